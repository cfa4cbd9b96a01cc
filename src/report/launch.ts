import type { LaunchDocument, StopDocument } from '../launch/schema.ts';
import { advice, sentence } from './messages.ts';
import { shellLine } from './shell-line.ts';
import { paragraph, shown } from './shown.ts';

/** Text of `launch` and `stop`: documents in, lines out. */

/** The human report of a launch that went well. `again`: the words that name the same target and home to another command. */
export function launchedText(document: LaunchDocument, again: readonly string[]): string {
  if (document.outcome === 'printed') return `${document.shell.join('\n')}\n`;
  const { url, pid, tokenFile, log, ws, why, version, install } = document;
  const rows: [string, string][] = [
    ['Dashboard', String(url)],
    ['Process', `${pid}, Hermes ${version ?? 'of unknown version'} in ${install}`],
    ['Token', tokenFile === null ? tokenless[why ?? 'gated'] : `in ${tokenFile}`],
    ['Chat', ws === 'open' ? '/api/ws opens and answers' : 'not tried: there is no token to try it with'],
    ['Log', String(log)],
    ['End it', shellLine(['hermes-compat', 'stop', ...again, '--port', String(document.port)])],
  ];
  return `${rows.map(([name, value]) => `${name.padEnd(11)}${value}`).join('\n')}\n`;
}

const tokenless = {
  gated: 'none: this dashboard wants a login',
  'token-in-env-file': "the one in the home's .env, which we do not read",
};

export function stoppedText({ stopped }: StopDocument): string {
  if (stopped.length === 0) return 'Nothing that launch started is on record here.\n';
  const line = ({ pid, port, outcome, log }: StopDocument['stopped'][number]): string => {
    const which = `process ${pid} on port ${port}`;
    switch (outcome) {
      case 'stopped':
        return `Ended ${which}.`;
      case 'killed':
        return `Ended ${which}; it took SIGKILL.`;
      case 'gone':
        return `The ${which} had ended by itself; nothing was signalled. Its log: ${log}`;
      case 'denied':
        return `The ${which} belongs to another user; it was left alone.`;
      case 'alive':
        return `The ${which} outlived SIGKILL.`;
      default:
        return outcome satisfies never;
    }
  };
  return `${stopped.map(line).join('\n')}\n`;
}

/** Why it did not start, for stderr: what, what helps, and the engine's own last words. */
export function notLaunchedText(finding: NonNullable<LaunchDocument['finding']>): string {
  const { code, evidence } = finding;
  const lines = [
    ...paragraph(`hermes-compat: no dashboard was started. ${shown(sentence(finding))}`),
    ...paragraph(shown(advice(finding)), 2, 2),
  ];
  if (evidence.length > 0)
    lines.push('  What was seen last:', ...evidence.map((line) => `    ${shown(line)}`));
  lines.push(`  (${code}; hermes-compat explain ${code})`);
  return `${lines.join('\n')}\n`;
}
