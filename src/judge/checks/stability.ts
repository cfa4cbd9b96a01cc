import { draft } from '../draft.ts';
import { sawHttp } from '../saw.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

/** A dashboard that started this long ago may still be loading: first starts of 21 s were measured, and 150 s are reported. */
const startingMs = 150_000;
const slowAnswerMs = 10_000;

export const stability: CheckDefinition = {
  id: 'stability',
  summary: 'the dashboard stays up during the check and is not still starting',
  probes: [],
  legacy: true,
  run({ reach, reading }) {
    const { facts, process } = reading;
    if (reach.state === 'absent') return skip('no dashboard runs');
    if (facts.flapping !== null)
      return done([
        draft('BACKEND_FLAPPING', {
          args: { url: facts.service?.url ?? null },
          evidence: [`first: ${facts.flapping.before}`, `then: ${facts.flapping.after}`],
        }),
      ]);
    const status = reading.http('status');
    const age = process?.startedAt == null ? null : Date.parse(facts.takenAt) - Date.parse(process.startedAt);
    const silent = reach.state === 'failed' && status?.outcome === 'failed';
    const young = age !== null && Number.isFinite(age) && age >= 0 && age < startingMs;
    if (silent && young)
      return done([
        draft('SLOW_START', {
          confidence: 'likely',
          args: { seconds: Math.round(age / 1000), pid: process?.pid ?? null },
          evidence: [
            `pid ${process?.pid ?? '?'} started ${Math.round(age / 1000)} s before the check`,
            sawHttp(status),
          ],
        }),
      ]);
    const firstByte = status?.phases.firstByte ?? 0;
    if (reach.state === 'reached' && firstByte > slowAnswerMs)
      return done([
        draft('SLOW_START', {
          args: { seconds: Math.round(firstByte / 1000), pid: process?.pid ?? null },
          evidence: [`/api/status took ${(firstByte / 1000).toFixed(1)} s`],
        }),
      ]);
    return reach.state === 'reached' ? done([]) : skip('no dashboard was reached');
  },
};
