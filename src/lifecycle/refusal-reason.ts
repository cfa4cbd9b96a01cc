import type { Home } from '../engine/schema.ts';
import { FileError, type Host } from '../host/types.ts';
import type { WsFact } from '../probe/exchange-schema.ts';

/** How much of the end of the engine's log is read: the line is among the last, whatever else it writes. */
const tailBytes = 64 * 1024;

/**
 * Why the engine refused our upgrade to /api/console, from the end of `<home>/logs/gui.log` (0.18.2 and newer log there what the
 * same gates refuse silently on /api/ws). null when nothing of ours is there to be read.
 */
export async function refusalReason(
  host: Host,
  home: Home | null,
  ws: readonly WsFact[],
): Promise<string | null> {
  const console = ws.find((each) => each.id === 'console' && each.outcome === 'refused');
  if (console === undefined || home === null) return null;
  const script = `tail -c ${tailBytes} "$1" 2>/dev/null`;
  for (const path of new Set([home.path, home.root])) {
    try {
      const { stdout } = await host.script(script, [`${path}/logs/gui.log`], {
        timeoutMs: 5000,
        maxOutput: 2 * tailBytes,
      });
      const reason = lastRefusal(stdout.toString('utf8'));
      if (reason !== null) return reason;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
    }
  }
  return null;
}

/** Of the last refusal the words that say why: reason, host, origin, peer and what was bound. Pure; exported for its test. */
export function lastRefusal(log: string): string | null {
  const lines = log.split('\n').filter((line) => /\bconsole (auth rejected|refused)\b/.test(line));
  const line = lines.at(-1);
  if (line === undefined) return null;
  const found = /\bconsole (?:auth rejected|refused).*$/.exec(line)?.[0] ?? '';
  // Nothing but the known words: a log may hold more than a report should.
  const words = found.match(
    /\b(?:auth rejected|refused|(?:reason|host|bound|origin|peer|mode)=[^\s"']{1,200}|host_mismatch|origin_mismatch|peer_not_loopback|token_mismatch)/g,
  );
  return words === null ? null : words.join(' ');
}
