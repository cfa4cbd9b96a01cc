/** Clock ticks a second in /proc/PID/stat: USER_HZ, 100 on every Linux that engines run on. */
const ticksPerSecond = 100;

/** When processes of a host started, in its own time. */
export interface HostClock {
  nowMs: number;
  /** Start of a process from its ticks after boot; null where the host does not tell. */
  startMs: (ticks: string | null) => number | null;
  /** How far a start time may be off, in milliseconds. */
  toleranceMs: number;
}

/**
 * `now` in seconds since 1970, `uptime` in seconds, `boot` the btime of /proc/stat. Uptime is finer (btime has whole
 * seconds), but a container may show its own: then btime decides.
 */
export function hostClock(now: string, uptime: string, boot: string): HostClock {
  const bootByUptime = Number(now) - Number(uptime);
  const bootTime = Number(boot);
  const fine = uptime !== '' && now.includes('.') && (boot === '' || Math.abs(bootByUptime - bootTime) < 2);
  const start = fine ? bootByUptime : boot === '' ? null : bootTime;
  return {
    nowMs: Number(now) * 1000,
    startMs: (ticks) =>
      start === null || ticks === null ? null : Math.round((start + Number(ticks) / ticksPerSecond) * 1000),
    toleranceMs: fine ? 100 : 1100,
  };
}

/** Field 22 of /proc/PID/stat; the name in parentheses may hold blanks and parentheses. */
export function startTicks(stat: string): string | null {
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = afterName[19];
  return ticks !== undefined && /^\d+$/.test(ticks) ? ticks : null;
}
