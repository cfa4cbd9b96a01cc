import { CompatError, usageError } from '../errors.ts';
import type { Located } from '../engine/locate.ts';
import type { Session } from '../patch/change.ts';
import type { Plan } from '../patch/plan.ts';
import type { PlanDocument, PlanOptions } from '../patch/schema.ts';
import type { RestartWish } from '../lifecycle/restart.ts';
import { confirm } from './ask.ts';
import type { Context } from './command.ts';
import { type Io, isInteractive, wantsColor, write } from './io.ts';
import { show } from './patch-actions.ts';
import { planOptions } from './patch.ts';
import { withPatchHost } from './patch-host.ts';
import { sayIdentity } from './say-identity.ts';
import { pathResolver, type RawOptions, readTextFile } from './request.ts';

export async function apply(words: string[], options: RawOptions, context: Context): Promise<void> {
  const { io } = context;
  const file = options['plan'];
  const saved = typeof file === 'string' ? await readPlan(pathResolver(io)(file)) : null;
  if (saved !== null && (words.length > 0 || options['carrier'] !== undefined)) {
    throw usageError('--plan says which patches and which carrier; give no others');
  }
  await withPatchHost(options, io, async (session, located) => {
    const all = session.catalogue.patches.map(({ id }) => id);
    const wanted = saved?.options ?? planOptions(words, options, all, 'apply');
    await changeAndShow(session, located, wanted, saved, options, context);
  });
}

export async function revert(words: string[], options: RawOptions, context: Context): Promise<void> {
  await withPatchHost(options, context.io, async (session, located) => {
    const all = session.catalogue.patches.map(({ id }) => id);
    await changeAndShow(session, located, planOptions(words, options, all, 'revert'), null, options, context);
  });
}

async function changeAndShow(
  session: Session,
  located: Located,
  wanted: PlanOptions,
  saved: PlanDocument | null,
  options: RawOptions,
  { io, finish }: Context,
): Promise<void> {
  const [{ changeTarget }, { changeText, planText }] = await Promise.all([
    import('../lifecycle/patch-change.ts'),
    import('../report/patch-text.ts'),
  ]);
  if (options['dryRun'] !== true) await sayIdentity(io, session.host, session.scene);
  const document = await changeTarget(session, located, {
    options: wanted,
    saved,
    dryRun: options['dryRun'] === true,
    purge: options['purge'] === true,
    restart: restartWish(session, options, io),
    consent: (plan) => consent(plan, options, io),
  });
  if (document.outcome === 'dry-run') {
    await show(io, options, document, ({ plan }, style) => planText(plan, style));
    return finish(document.plan.refusals.length > 0 ? 4 : 0);
  }
  await show(io, options, document, changeText);
}

/** `--restart` and `--restart-service UNIT`. */
export function restartWish(session: Session, options: RawOptions, io: Io): RestartWish {
  const env = Object.entries(io.env).filter((each): each is [string, string] => each[1] !== undefined);
  const service = options['restartService'];
  return {
    launched: options['restart'] === true,
    service: typeof service === 'string' ? service : null,
    env: session.host.kind === 'local' ? Object.fromEntries(env) : {},
    signal: io.signal,
  };
}

/** The plan on stderr, and a question on a terminal. Without a terminal and without --yes the answer is no. */
export async function consent(plan: Plan, options: RawOptions, io: Io): Promise<boolean> {
  if (options['yes'] === true) return true;
  const [{ planText }, { coloured, plain }] = await Promise.all([
    import('../report/patch-text.ts'),
    import('../report/style.ts'),
  ]);
  await write(
    io.stderr,
    planText(plan.document, wantsColor(io, options['color'] as boolean | undefined) ? coloured : plain),
  );
  return isInteractive(io) && confirm(io, 'Write this?');
}

async function readPlan(path: string): Promise<PlanDocument> {
  const text = await readTextFile(path, 'the plan');
  const { planSchema } = await import('../patch/schema.ts');
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    throw usageError(`${path} is not JSON`, { cause });
  }
  const plan = planSchema.safeParse(data);
  if (!plan.success) throw usageError(`${path} is no plan that this version can carry out (planVersion 1)`);
  return plan.data;
}

export async function unlock(_words: string[], options: RawOptions, { io, finish }: Context): Promise<void> {
  const [{ claimsIn, removeClaims }, { lockFolders }] = await Promise.all([
    import('../patch/lock.ts'),
    import('../engine/compat-places.ts'),
  ]);
  await withPatchHost(options, io, async ({ host, scene, who }) => {
    const folders = lockFolders(scene.home.root, scene.install?.packageDir ?? null);
    const held = await Promise.all(
      folders.map(async (folder) => ({ folder, claims: await claimsIn(host, folder, who) })),
    );
    const claims = held.flatMap((each) => each.claims);
    if (claims.length === 0) return write(io.stdout, 'No lock is held.\n');
    const live = claims.find(({ alive }) => alive === true);
    if (live !== undefined) {
      throw new CompatError('refused', `process ${live.pid ?? 'unknown'} holds the lock and runs`, {
        finding: 'LOCK_HELD',
        args: { path: live.path, pid: live.pid },
      });
    }
    for (const { path, pid, hostname, alive } of claims) {
      await write(
        io.stderr,
        `${path}: process ${pid ?? 'unknown'} on ${hostname ?? 'an unknown machine'}, ${alive === false ? 'gone' : 'nobody can tell from here'}\n`,
      );
    }
    if (options['yes'] !== true && !(isInteractive(io) && (await confirm(io, 'Take it away?'))))
      return finish(4);
    await sayIdentity(io, host, scene);
    for (const each of held.filter(({ claims: ofIt }) => ofIt.length > 0))
      await removeClaims(host, each.folder, each.claims);
    await write(io.stdout, 'Unlocked. The next change first ends what was cut.\n');
  });
}
