import { usageError } from '../errors.ts';
import type { Report } from '../judge/schema.ts';
import { examine } from '../lifecycle/examine.ts';
import { type Look, watch } from '../lifecycle/watch.ts';
import type { Facts } from '../probe/schema.ts';
import { shown } from '../report/shown.ts';
import type { Context } from './command.ts';
import { readExamineOptions } from './examine-request.ts';
import type { ExitCode } from './exit-codes.ts';
import { write } from './io.ts';
import { type RawOptions, readTargets } from './request.ts';

/** `doctor --watch`: one line a change, or the report as one line of JSON. Ends with Ctrl-C. */
export async function watchTarget(
  words: readonly string[],
  options: RawOptions,
  judge: (facts: Facts) => Promise<Report>,
  { io, finish }: Context,
): Promise<void> {
  const [target, more] = readTargets(words, io);
  if (target === undefined || more !== undefined) throw usageError('--watch takes one target');
  if (target.kind === 'http')
    throw usageError(
      '--watch looks at files and processes: the target is this machine or one reached by ssh',
    );
  if (options['fix'] === true || options['start'] === true || options['from'] !== undefined)
    throw usageError('--watch only looks; it takes neither --fix nor --start nor --from');
  const input = (await readExamineOptions(options, io))(target);
  const host = await input.openHost(target);
  const json = options['json'] === true || /json/.test(String(options['format'] ?? ''));
  let last = '';
  const tell = async ({ report, changed }: Look): Promise<void> => {
    finish(report.exitCode as ExitCode);
    const state = stateOf(report);
    // A change that leads to the same end is told only where files say what it was.
    if (state === last && changed.length === 0) return;
    last = state;
    const line = json
      ? JSON.stringify(report)
      : `${new Date().toISOString()} ${state}${
          changed.length === 0
            ? ''
            : `; changed: ${changed
                .slice(0, 4)
                .map((each) => shown(each))
                .join(', ')}${changed.length > 4 ? ` and ${changed.length - 4} more` : ''}`
        }`;
    await write(io.stdout, `${line}\n`);
  };
  try {
    await watch(
      host,
      async () => {
        const { facts } = await examine({ ...input, openHost: async () => host });
        return { facts, report: await judge(facts) };
      },
      tell,
      { everyMs: 2000, signal: io.signal },
    );
  } finally {
    await host.close();
  }
}

function stateOf({ verdict, findings }: Report): string {
  const codes = findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code);
  return codes.length === 0 ? verdict : `${verdict}: ${[...new Set(codes)].join(' ')}`;
}
