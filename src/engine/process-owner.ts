import type { EngineProcess } from './schema.ts';

/** Units that contain what people start by hand, in a job or in a container: not the unit of the engine. */
const notItsUnit =
  /^(user@\d+|ssh|sshd|ssh@.*|sshd@.*|cron|crond|atd|docker|containerd|podman|getty@.*|init|dbus|gdm|systemd-.*)\.service$/;
const container =
  /(?:docker|libpod|crio|cri-containerd|lxc)[-/:]([\w.-]{4,80}?)(?:\.scope)?(?:\/|$)|kubepods[^ ]*\/([\w.-]{8,80}?)(?:\.scope)?$/;

/**
 * Who keeps a process alive: our launch, a systemd unit, a container, an SSH session, or a person's hand.
 * `groups` and `ownGroups`: lines of /proc/PID/cgroup of the process and of ourselves, a blank between them;
 * `parents`: `pid:name`, nearest first. Both empty on hosts without procfs.
 */
export function ownerOf(signs: {
  pid: number;
  ownedPids: readonly number[];
  groups: string;
  ownGroups: string;
  parents: string;
}): EngineProcess['owner'] {
  if (signs.ownedPids.includes(signs.pid)) return { kind: 'launch', name: null };
  if (signs.groups === '') return { kind: 'unknown', name: null };
  const box = containerOf(signs.groups);
  if (box !== null && box !== containerOf(signs.ownGroups)) return { kind: 'container', name: box };
  const unit = unitOf(signs.groups);
  if (unit !== null) return { kind: 'systemd', name: unit };
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
function unitOf(groups: string): string | null {
  for (const path of paths(groups)) {
    const units = path.split('/').filter((part) => part.endsWith('.service') && !notItsUnit.test(part));
    const unit = units.at(-1);
    if (unit !== undefined)
      return unit.replaceAll(/\\x([0-9a-f]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
  }
  return null;
}

/** `12:cpu,cpuacct:/path` and `0::/path`. */
const paths = (groups: string): string[] =>
  groups.split(' ').flatMap((line) => {
    const path = /^\d+:[^:]*:(\/.+)$/.exec(line)?.[1];
    return path === undefined ? [] : [path];
  });
