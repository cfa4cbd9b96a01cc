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

/**
 * Takes a lock. It is a folder with one entry a claimant, named after the claimant's process; each enters before it looks, so
 * of two at once at least one sees the other and steps back. An entry is removed only by its owner, or by its own name when
 * its process is surely gone: no run can take away the live claim of another. A cut run leaves an entry that the next removes.
 *
 * @param note what the entry says to people, e.g. which journal belongs to it
 * @throws CompatError refused (LOCK_HELD)
 */
export async function takeLock(host: Host, folder: string, who: Whoami, note: string): Promise<Lock> {
  const mine = who.claim();
  holding.add(mine);
  try {
    await enter(host, folder, mine, note);
    for (let looks = 0; ; looks++) {
      const others = (await claimsIn(host, folder, who)).filter(({ path }) => basename(path) !== mine);
      const other = others.find(({ alive }) => alive !== false);
      if (other === undefined) return await lockOf(host, folder, mine, others);
      // Of several that entered at once the first by name waits until the others have stepped back.
      if (looks === 20 || mine > basename(other.path)) throw held(folder, other);
      await sleep(50);
    }
  } catch (error) {
    await leave(host, folder, mine);
    throw error;
  }
}

async function lockOf(host: Host, folder: string, mine: string, gone: readonly Claim[]): Promise<Lock> {
  const cut: Lock['cut'] = [];
  for (const { path } of gone) cut.push({ path, note: (await host.readFile(path, 65_536)).toString('utf8') });
  return {
    folder,
    cut,
    clear: async () => {
      for (const { path } of cut) await host.removeFile(path);
    },
    release: () => leave(host, folder, mine),
  };
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

async function leave(host: Host, folder: string, mine: string): Promise<void> {
  holding.delete(mine);
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

export async function claimsIn(host: Host, folder: string, who: Whoami): Promise<Claim[]> {
  return Promise.all(
    (await namesIn(host, folder)).map(async (name): Promise<Claim> => {
      const holder = holderOf(name);
      const own = holder !== null && holder.pid === who.me.pid && holder.hostname === who.me.hostname;
      const alive = own && !holding.has(name) ? false : holder === null ? null : await who.alive(holder);
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
    commands: [['hermes-compat', 'patch', 'unlock']],
  });
}
