import type { HostFacts } from '../engine/schema.ts';
import { rootOf } from '../engine/resolve-home.ts';
import { CompatError, usageError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { HookRunDocument } from '../lifecycle/hook-schema.ts';
import { runHook } from '../lifecycle/hook-run.ts';
import { documentHead } from '../tool.ts';
import { addressOf } from '../target/address.ts';
import type { Target } from '../target/types.ts';
import type { Context } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { openHostFor } from './open-host.ts';
import { emit, readFormat } from './output.ts';
import { type RawOptions, readRefinements, readSeconds, readTargets } from './request.ts';
import { sayIdentity } from './say-identity.ts';

type Ended = Pick<HookRunDocument, 'outcome' | 'changed' | 'patches' | 'restart' | 'message'>;

/** For hooks: never asks, and exits 0 whatever happened, unless `--strict`. */
export async function run(_words: string[], options: RawOptions, { io, finish }: Context): Promise<void> {
  const target = hookTarget(options, io);
  const waitMs = readSeconds(String(options['wait']), '--wait') ?? 0;
  let root = '';
  let ended: Ended;
  let code: ExitCode;
  try {
    const host = await openHostFor(options, io)(target);
    try {
      root = await rootHome(host, target, options, io);
      ended = await runOn(host, target, root, waitMs, io);
      code = codeOf(ended);
    } finally {
      await host.close();
    }
  } catch (error) {
    if (options['strict'] === true || !(error instanceof CompatError)) throw error;
    ended = { outcome: 'failed', changed: [], patches: [], restart: [], message: error.message };
    code = 0;
  }
  const json = readFormat(options, ['human', 'json'] as const, 'json') === 'json';
  const document: HookRunDocument = {
    ...documentHead('hook-run'),
    target: { kind: target.kind, name: target.name, url: null },
    home: root,
    ...ended,
  };
  const quiet = options['quiet'] === true && code === 0 && ended.outcome !== 'failed';
  if (!quiet) await emit(io, options, json ? `${JSON.stringify(document, null, 2)}\n` : await text(document));
  finish(options['strict'] === true ? code : 0);
}

export type HookTarget = Exclude<Target, { kind: 'http' }>;

/** @throws CompatError usage */
export function hookTarget(options: RawOptions, io: Io): HookTarget {
  const word = options['target'];
  const [target] = readTargets(typeof word === 'string' ? [word] : [], io);
  if (target === undefined || target.kind === 'http')
    throw usageError('hooks look after files: the target is this machine or one reached by ssh');
  return target;
}

const text = async (document: HookRunDocument): Promise<string> =>
  (await import('../report/hook-text.ts')).hookRunText(document);

/** The root home, found without a look at installs: that would cost what an unchanged run must not. */
async function rootHome(host: Host, target: HookTarget, options: RawOptions, io: Io): Promise<string> {
  const { home } = readRefinements(options, io);
  const { base, own } = target.kind === 'local' ? homesHere(io) : await homesThere(host);
  return rootOf(home ?? (await targetHome(host, target, base)) ?? own, base);
}

/** A path that is a home; null where another one counts: none is named, or it is an install. */
async function targetHome(host: Host, { path }: HookTarget, base: string): Promise<string | null> {
  if (path === null) return null;
  const { namedPath } = await import('../engine/named-path.ts');
  const named = await namedPath(host, path, base);
  refuseNothing(path, named);
  return named === 'home' ? path : null;
}

/** @throws CompatError unchecked: what the target names is no place for a hook, and another one is not meant */
export function refuseNothing(path: string, named: HostFacts['named']): void {
  if (named !== 'nothing' && named !== 'other' && named !== 'unreadable') return;
  const why =
    named === 'unreadable' ? 'cannot be entered by this account' : 'is neither a Hermes home nor an install';
  throw new CompatError('unchecked', `${path} ${why}`, {
    finding: named === 'unreadable' ? 'HOME_UNREADABLE' : 'INSTALL_NOT_FOUND',
    args: { path },
  });
}

interface Homes {
  /** `~/.hermes`. */
  base: string;
  /** The one that the environment names, or else that. */
  own: string;
}

function homesHere(io: Io): Homes {
  const base = `${io.home}/.hermes`;
  return { base, own: io.env['HERMES_HOME']?.trim() || base };
}

async function homesThere(host: Host): Promise<Homes> {
  const { stdout } = await host.script('printf "%s\\n%s" "$HOME/.hermes" "${HERMES_HOME:-$HOME/.hermes}"');
  const [base = '', own = ''] = stdout.toString('utf8').split('\n');
  return { base, own };
}

async function runOn(host: Host, target: Target, root: string, patienceMs: number, io: Io): Promise<Ended> {
  const result = await runHook({
    host,
    root,
    signal: io.signal,
    patienceMs,
    now: () => new Date().toISOString(),
    who: async () => {
      const [{ whoami }, { localHost }] = await Promise.all([
        import('../host/holder.ts'),
        import('../host/local.ts'),
      ]);
      return whoami(
        localHost({ path: io.env['PATH'] ?? '/usr/bin:/bin', home: io.home, platform: io.platform }),
        io.pid,
      );
    },
    open: async ({ install, home }) => {
      const { openPlace } = await import('./open-place.ts');
      const place = await openPlace(host, target, { install, home }, io);
      await sayIdentity(io, host, place.session.scene);
      return place;
    },
  });
  const named = { kind: target.kind, name: addressOf(target) };
  const restart = await Promise.all(
    result.restart.map(async (running) =>
      (await import('../lifecycle/restart.ts')).leftAlone(running, named, 'a hook ends nothing'),
    ),
  );
  return { ...result, restart, message: null };
}

function codeOf({ outcome, patches, restart }: Ended): ExitCode {
  if (outcome === 'updating') return 3;
  if (patches.some((each) => each.outcome === 'refused')) return 4;
  return restart.length > 0 ? 1 : 0;
}
