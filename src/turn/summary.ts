import type { TurnState } from './state.ts';
import type { Activity, Part, ToolStatus, TurnSummary } from './types.ts';

export function summaryOf(state: TurnState, parts: readonly Part[]): TurnSummary {
  const tools: Record<ToolStatus, number> = { completed: 0, failed: 0, cancelled: 0, denied: 0, running: 0 };
  const names = new Map<string, number>();
  for (const part of parts) {
    if (part.type !== 'tool') continue;
    tools[part.status] += 1;
    names.set(part.name, (names.get(part.name) ?? 0) + 1);
  }
  return {
    durationMs:
      state.startedAt === null || state.endedAt === null
        ? null
        : Math.max(0, state.endedAt - state.startedAt),
    reasoning: parts.filter((part) => part.type === 'reasoning').length,
    texts: parts.filter((part) => part.type === 'text').length,
    tools,
    toolNames: Object.fromEntries(names),
    compressions: compressionsOf(state.activity),
    retries: state.activity.filter((line) => line.kind === 'retry').length,
    artifacts: state.artifacts.length,
  };
}

/** A pass is announced by up to two lines: why ("Context too large … (1/3)") and that it begins ("Compacting context"). */
function compressionsOf(activity: readonly Activity[]): number {
  const lines = activity.filter((line) => line.kind === 'compression').map((line) => line.text);
  const begun = lines.filter((text) => /compacting context|compressing \d+ messages/i.test(text)).length;
  const reasons = lines.filter((text) => /context too large/i.test(text)).length;
  return Math.max(begun, reasons, lines.length > 0 ? 1 : 0);
}
