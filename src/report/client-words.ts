import type { Report, Verdict } from '../judge/schema.ts';
import { shown } from './shown.ts';

/** Every client on one line, grouped by verdict. */
export function clientWords(report: Report): string {
  const verdicts = [...new Set(Object.values(report.clients))];
  const named = (verdict: Verdict): string[] =>
    Object.keys(report.clients).filter((name) => report.clients[name] === verdict);
  return verdicts
    .map(
      (verdict) =>
        `${verdict}: ${named(verdict)
          .map((name) => shown(name))
          .join(', ')}`,
    )
    .join(' · ');
}
