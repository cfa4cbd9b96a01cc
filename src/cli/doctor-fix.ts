import type { Located } from '../engine/locate.ts';
import { CompatError } from '../errors.ts';
import { localHost } from '../host/local.ts';
import type { Report } from '../judge/schema.ts';
import type { Examination, ExamineInput } from '../lifecycle/examine.ts';
import type { ChangeDocument } from '../patch/schema.ts';
import type { Io } from './io.ts';
import { wantsColor, write } from './io.ts';
import { oneOf, type RawOptions } from './request.ts';
import { sayIdentity } from './say-identity.ts';

/**
 * `doctor --fix`: the plan is shown on stderr and agreed to, only what is missing is applied, and the target is examined again.
 * null: the report asks for no patch that can be applied from here.
 *
 * @throws CompatError refused, rolled-back, half-done, interrupted
 */
export async function fixAndExamine(
  first: Examination,
  report: Report,
  input: ExamineInput,
  options: RawOptions,
  io: Io,
): Promise<{ examination: Examination; change: NonNullable<Report['change']> } | null> {
  const { host, seen } = first;
  const [{ fix, patchesWanted }, { examine }] = await Promise.all([
    import('../lifecycle/fix.ts'),
    import('../lifecycle/examine.ts'),
  ]);
  if (patchesWanted(report).length === 0) return null;
  if (host === null || seen === null || input.target.kind === 'http') {
    throw new CompatError(
      'refused',
      `${input.target.name} is reached by URL only, so nothing can be changed from here; run doctor --fix on its own machine, or name it as ssh://host`,
    );
  }
  const change = await applyMissing(first, report, input, options, io, fix);
  if (change === null) return null;
  if (options['quiet'] !== true) {
    const { changeText } = await import('../report/patch-text.ts');
    await write(io.stderr, changeText(change, await styleOf(options, io)));
  }
  const examination = await examine({ ...input, openHost: async () => host });
  return { examination, change: summary(change) };
}

async function applyMissing(
  { host, seen }: Examination,
  report: Report,
  input: ExamineInput,
  options: RawOptions,
  io: Io,
  fix: typeof import('../lifecycle/fix.ts').fix,
): Promise<ChangeDocument | null> {
  if (host === null || seen === null) return null;
  const [{ patchSession }, { whoami }, { consent, restartWish }] = await Promise.all([
    import('../lifecycle/patch-session.ts'),
    import('../host/holder.ts'),
    import('./patch-change.ts'),
  ]);
  const here = localHost({ path: io.env['PATH'] ?? '/usr/bin:/bin', home: io.home, platform: io.platform });
  const located: Located = { host: seen.host, installs: [...seen.installs], processes: [...seen.processes] };
  const session = await patchSession(host, input.target, located, await whoami(here, io.pid), io.signal);
  if (options['dryRun'] !== true) await sayIdentity(io, host, session.scene);
  const carrier = options['carrier'];
  return fix(session, located, report, {
    carrier: typeof carrier === 'string' ? oneOf(carrier, ['overlay', 'source'] as const, '--carrier') : null,
    dryRun: options['dryRun'] === true,
    restart: restartWish(session, options, io),
    consent: (plan) => consent(plan, options, io),
  });
}

const summary = ({ outcome, plan, restart }: ChangeDocument): NonNullable<Report['change']> => ({
  outcome,
  patches: [...new Set(plan.steps.map(({ patch }) => patch))],
  files: plan.steps.filter(({ action }) => action !== 'none').map(({ path }) => path),
  restarted: restart.filter(({ restarted }) => restarted).map(({ pid }) => pid),
  toRestart: restart.filter(({ restarted }) => !restarted).map(({ pid }) => pid),
});

const styleOf = async (options: RawOptions, io: Io) => {
  const { coloured, plain } = await import('../report/style.ts');
  return io.stderr.isTTY === true && wantsColor(io, options['color'] as boolean | undefined)
    ? coloured
    : plain;
};
