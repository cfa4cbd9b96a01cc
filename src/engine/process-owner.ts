import type { EngineProcess } from './schema.ts';

/** Units that contain what people start by hand, in a job or in a container: not the unit of the engine. */
const notItsUnit =
  /^(user@\d+|ssh|sshd|ssh@.*|sshd@.*|cron|crond|atd|docker|containerd|podman|getty@.*|init|dbus|gdm|systemd-.*)\.service$/;
const container =
  /(?:docker|libpod|crio|cri-containerd|lxc)[-/:]([\w.-]{4,80}?)(?:\.scope)?(?:\/|$)|kubepods[^ ]*\/([\w.-]{8,80}?)(?:\.scope)?$/;

/** What tells who keeps a process alive. */
interface Signs {
  pid: number;
  ownedPids: readonly number[];
  /** Lines of /proc/PID/cgroup of the process and of ourselves, a blank between them; empty on hosts without procfs. */
  groups: string;
  ownGroups: string;
  /** `pid:name`, nearest first; without procfs the nearest one only. */
  parents: string;
  /** Lines of `launchctl list` (pid, status, label) with the manager that gave them in front; none but on macOS. */
  jobs?: readonly string[];
}

/** Who keeps a process alive: our launch, a systemd unit, a launchd job, a container, an SSH session, or a person's hand. */
export function ownerOf(signs: Signs): EngineProcess['owner'] {
  if (signs.ownedPids.includes(signs.pid)) return { kind: 'launch', name: null };
  if (signs.groups === '') return jobOf(signs) ?? { kind: 'unknown', name: null };
  const box = containerOf(signs.groups);
  if (box !== null && box !== containerOf(signs.ownGroups)) return { kind: 'container', name: box };
  const unit = unitOf(signs.groups);
  if (unit !== null) return { kind: 'systemd', ...unit };
  const throughSsh = /(^| )\d+:sshd/.test(signs.parents) || /\/sshd?\.service/.test(signs.groups);
  return { kind: throughSsh ? 'ssh' : 'manual', name: null };
}

function containerOf(groups: string): string | null {
  for (const path of paths(groups)) {
    const found = container.exec(path);
    if (found) return (found[1] ?? found[2] ?? '').slice(0, 64);
  }
  return null;
}

/** `/system.slice/hermes.service` or `…/user@1000.service/app.slice/hermes.service`: the innermost unit. */
function unitOf(groups: string): { name: string; manager: 'system' | 'user' } | null {
  for (const path of paths(groups)) {
    const units = path.split('/').filter((part) => part.endsWith('.service') && !notItsUnit.test(part));
    const unit = units.at(-1);
    if (unit === undefined) continue;
    const name = unit.replaceAll(/\\x([0-9a-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return { name, manager: /\/user@\d+\.service\//.test(path) ? 'user' : 'system' };
  }
  return null;
}

/** Jobs of Apple, and applications that a person opened, are no service of the engine. */
const notItsJob = /^(com\.apple\.|application\.)/;

/** `gui 512 0 ai.hermes.dashboard`: the job whose process this is, or whose shell started it. */
function jobOf({ pid, parents, jobs = [] }: Signs): EngineProcess['owner'] | null {
  const pids = [String(pid), ...parents.split(' ').map((each) => each.split(':')[0] ?? '')];
  for (const line of jobs) {
    const [manager, of = '', , name = ''] = line.split(/\s+/);
    if (pids.includes(of) && name !== '' && !notItsJob.test(name))
      return { kind: 'launchd', name, manager: manager === 'system' ? 'system' : 'user' };
  }
  return null;
}

/** `12:cpu,cpuacct:/path` and `0::/path`. */
const paths = (groups: string): string[] =>
  groups.split(' ').flatMap((line) => {
    const path = /^\d+:[^:]*:(\/.+)$/.exec(line)?.[1];
    return path === undefined ? [] : [path];
  });
