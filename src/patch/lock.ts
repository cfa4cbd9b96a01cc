import { setTimeout as sleep } from 'node:timers/promises';
import { CompatError } from '../errors.ts';
import { holderOf, type Whoami } from '../host/holder.ts';
import { FileError, type Host } from '../host/types.ts';
import { basename, join, namesIn } from './world.ts';

/** A lock that we hold. */
export interface Lock {
  folder: string;
  /** What the entries of runs that were cut say; they are removed by `clear`, when what they left is recovered. */
  cut: { path: string; note: string }[];
  clear(): Promise<void>;
  release(): Promise<void>;
}

/** Somebody's claim, as `unlock` shows it. */
export interface Claim {
  path: string;
  hostname: string | null;
  pid: number | null;
  alive: boolean | null;
}

/** Claims that this process holds: one of ours that is not among them was left by a release that failed. */
const holding = new Set<string>();

/** Beside the claims, once one of them is the holder's: its name. One that was left by a cut holder names no live claim. */
const holderFile = 'holder';

/** Claimants that are no holder step back as soon as they have looked; 10 s are for those that hardly get to run. */
const looks = { limit: 200, everyMs: 50 };

/**
 * Takes a lock. It is a folder with one entry a claimant, named after the claimant's process; each enters before it looks, so
 * of two at once at least one sees the other and steps back. An entry is removed only by its owner, or by its own name when
 * its process is surely gone: no run can take away the live claim of another. A cut run leaves an entry that the next removes.
 * Of several that entered at once the first by name waits until the others have stepped back, unless one of them holds it.
 *
 * @param note what the entry says to people, e.g. which journal belongs to it
 * @throws CompatError refused (LOCK_HELD)
 */
export async function takeLock(host: Host, folder: string, who: Whoami, note: string): Promise<Lock> {
  const mine = who.claim();
  holding.add(mine);
  try {
    await enter(host, folder, mine, note);
    for (let look = 1; ; look++) {
      const others = (await claimsIn(host, folder, who)).filter(({ path }) => basename(path) !== mine);
      const rivals = others.filter(({ alive }) => alive !== false);
      if (rivals.length === 0) return await holderOfLock(host, folder, mine, others);
      const winner = await winnerOf(host, folder, mine, rivals);
      if (winner !== null) throw held(folder, winner);
      if (look === looks.limit) throw held(folder, rivals[0] as Claim);
      await sleep(looks.everyMs);
    }
  } catch (error) {
    await leave(host, folder, mine);
    throw error;
  }
}

/** The rival that we step back for; null while all of them will step back for us. */
async function winnerOf(
  host: Host,
  folder: string,
  mine: string,
  rivals: readonly Claim[],
): Promise<Claim | null> {
  const holder = await textOf(host, join(folder, holderFile));
  const before = ({ path, alive }: Claim): boolean =>
    basename(path) === holder || alive === null || basename(path) < mine;
  return rivals.find(before) ?? null;
}

async function holderOfLock(host: Host, folder: string, mine: string, gone: readonly Claim[]): Promise<Lock> {
  const cut: Lock['cut'] = [];
  for (const { path } of gone) {
    // One that is not there any more was no cut run: it left between our two looks.
    const note = await textOf(host, path);
    if (note !== null) cut.push({ path, note });
  }
  await host.removeFile(join(folder, holderFile));
  await host.createFile(join(folder, holderFile), Buffer.from(mine), 0o600);
  return {
    folder,
    cut,
    clear: async () => {
      for (const { path } of cut) await host.removeFile(path);
    },
    release: () => leave(host, folder, mine, true),
  };
}

async function textOf(host: Host, path: string): Promise<string | null> {
  try {
    return (await host.readFile(path, 65_536)).toString('utf8');
  } catch (error) {
    if (error instanceof FileError && error.code === 'not-found') return null;
    throw error;
  }
}

async function enter(host: Host, folder: string, mine: string, note: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await host.mkdir(folder, 0o700);
    } catch (error) {
      if (!(error instanceof FileError && error.code === 'exists')) throw error;
      await refuseForeignFolder(host, folder);
    }
    try {
      return await host.createFile(join(folder, mine), Buffer.from(note), 0o600);
    } catch (error) {
      // Its last holder removed the folder between our two calls.
      if (!(error instanceof FileError && error.code === 'not-found') || tries > 20) throw error;
    }
  }
}

async function leave(host: Host, folder: string, mine: string, held = false): Promise<void> {
  holding.delete(mine);
  if (held) await host.removeFile(join(folder, holderFile)).catch(() => {});
  try {
    await host.removeFile(join(folder, mine));
    await host.removeDir(folder);
  } catch {
    // Others are in it; or the disk refuses, and the next run removes the claim of a process that is gone.
  }
}

/** A link, or a folder of somebody else, could send our files elsewhere. */
export async function refuseForeignFolder(host: Host, folder: string): Promise<void> {
  const stat = await host.stat(folder);
  const { uid, user } = await host.identity();
  const why =
    stat === null
      ? null
      : stat.kind !== 'dir'
        ? 'is not a folder of its own'
        : stat.uid !== uid
          ? `belongs to uid ${stat.uid}, not to ${user}`
          : (stat.mode & 0o002) !== 0
            ? 'can be written by everyone'
            : null;
  if (why !== null)
    throw new CompatError('refused', `${folder} ${why}: nothing is written through it`, {
      finding: 'NOT_OWNER',
      args: { path: folder },
    });
}

/** Takes away a lock whose holders are gone, or that a person has taken upon himself to end. */
export async function removeClaims(host: Host, folder: string, claims: readonly Claim[]): Promise<void> {
  for (const name of [...claims.map(({ path }) => basename(path)), holderFile])
    await host.removeFile(join(folder, name));
  await host.removeDir(folder);
}

export async function claimsIn(host: Host, folder: string, who: Whoami): Promise<Claim[]> {
  return Promise.all(
    (await namesIn(host, folder))
      .filter((name) => name !== holderFile)
      .map(async (name): Promise<Claim> => {
        const holder = holderOf(name);
        const own = holder !== null && holder.pid === who.me.pid && holder.hostname === who.me.hostname;
        const alive = own ? holding.has(name) : holder === null ? null : await who.alive(holder);
        return {
          path: join(folder, name),
          hostname: holder?.hostname ?? null,
          pid: holder?.pid ?? null,
          alive,
        };
      }),
  );
}

function held(folder: string, claim: Claim): CompatError {
  const owner =
    claim.pid === null
      ? 'an entry that names no process'
      : `process ${claim.pid} on ${claim.hostname ?? 'another machine'}`;
  const message =
    claim.alive === true
      ? `${owner} is changing this engine right now`
      : `${owner} may be changing this engine: from here nobody can tell`;
  return new CompatError('refused', `${message} (lock ${folder})`, {
    finding: 'LOCK_HELD',
    args: { path: folder, pid: claim.pid, hostname: claim.hostname, alive: claim.alive },
    // Nothing takes the lock from a process that lives: its end is waited for.
    ...(claim.alive === true ? {} : { commands: [['hermes-compat', 'patch', 'unlock']] }),
  });
}
