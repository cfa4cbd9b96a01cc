/**
 * What each scenario comes to on each release, in the words of `cellText`. Seen on the real engines with the scripted model, and held against
 * the facts about them; a cell that comes out otherwise is a finding, also where it looks better.
 */
export const expectedCells: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0.14.0': {
    plain: 'completed',
    reasoning: 'completed',
    tools: 'completed',
    'parallel-tools': 'completed',
    'fail-then-success': 'error, completed · 1 missing-user',
    interrupt: 'cancelled, completed · 0 missing-assistant, 1 missing-user',
    'lost-socket': 'interrupted · 0 live-incomplete · degraded 0 · running-turn-not-attached',
    'unknown-session': 'completed, completed',
    restored: 'completed, completed',
    attachment: 'completed, completed · 1 user-text-expanded · no-file-attach',
    'image-path': 'completed',
    'tool-limit': 'tool_limit_reached · 0 extra-control-row',
    empty: 'no_response',
    compression: 'completed, completed, completed, completed · 3 ids-rotated',
    'model-switch': 'completed, completed',
  },
  '0.16.0': {
    plain: 'completed',
    reasoning: 'completed',
    tools: 'completed',
    'parallel-tools': 'completed',
    'fail-then-success': 'error, completed · 1 missing-user',
    interrupt: 'cancelled, completed · 0 missing-assistant, 1 missing-user',
    'lost-socket': 'completed',
    'unknown-session': 'completed, completed',
    restored: 'completed, completed',
    attachment: 'completed, completed · 1 user-text-expanded · no-file-attach',
    'image-path': 'completed',
    'tool-limit': 'tool_limit_reached · 0 extra-control-row',
    empty: 'no_response',
    compression: 'completed, completed, completed, completed · 3 ids-rotated',
    'model-switch': 'completed, completed',
  },
  '0.19.0': {
    plain: 'completed',
    reasoning: 'completed',
    tools: 'completed',
    'parallel-tools': 'completed',
    'fail-then-success': 'error, completed',
    interrupt: 'cancelled, completed',
    'lost-socket': 'completed',
    'unknown-session': 'completed, completed',
    restored: 'completed, completed',
    attachment: 'completed, completed · 0 user-text-expanded, 1 user-text-expanded',
    'image-path': 'completed',
    'tool-limit': 'tool_limit_reached · 0 extra-control-row',
    empty: 'no_response · 0 extra-assistant-row',
    compression:
      'completed, completed, completed, completed · 0 rewritten-by-compaction, 1 rewritten-by-compaction, 2 truncated-result',
    'model-switch': 'completed, completed · 0 extra-control-row',
  },
  '0.21.4.post1': {
    plain: 'completed',
    reasoning: 'completed',
    tools: 'completed',
    'parallel-tools': 'completed',
    'fail-then-success': 'error, completed · 0 extra-assistant-row',
    interrupt: 'cancelled, completed',
    'lost-socket': 'completed',
    'unknown-session': 'completed, completed',
    restored: 'completed, completed',
    attachment: 'completed, completed · 0 user-text-expanded, 1 user-text-expanded',
    'image-path': 'completed',
    'tool-limit': 'tool_limit_reached · 0 extra-control-row',
    empty: 'no_response · 0 extra-assistant-row',
    compression:
      'completed, completed, completed, completed · 0 rewritten-by-compaction, 1 rewritten-by-compaction, 2 rewritten-by-compaction',
    'model-switch': 'completed, completed · 0 extra-control-row',
  },
  '0.22.2.post1': {
    plain: 'completed',
    reasoning: 'completed',
    tools: 'completed',
    'parallel-tools': 'completed',
    'fail-then-success': 'error, completed · 0 extra-assistant-row',
    interrupt: 'cancelled, completed',
    'lost-socket': 'completed',
    'unknown-session': 'completed, completed',
    restored: 'completed, completed',
    attachment: 'completed, completed · 0 user-text-expanded, 1 user-text-expanded',
    'image-path': 'completed',
    'tool-limit': 'tool_limit_reached · 0 extra-control-row',
    empty: 'no_response · 0 extra-assistant-row',
    compression:
      'completed, completed, completed, completed · 0 rewritten-by-compaction, 1 rewritten-by-compaction, 2 rewritten-by-compaction',
    'model-switch': 'completed, completed · 0 extra-control-row',
  },
};

/** Engines that take files only by their path can attach nothing where no disk is shared. */
const withoutFiles: typeof expectedCells = {
  '0.14.0': { attachment: 'completed, completed · no-file-attach, no-image-attach' },
  '0.16.0': { attachment: 'completed, completed · no-file-attach, no-image-attach' },
};

/** `sharesFiles`: the engine can read files that this run made. undefined for a release or scenario without a cell. */
export const expectedCell = (version: string, id: string, sharesFiles: boolean): string | undefined =>
  (sharesFiles ? undefined : withoutFiles[version]?.[id]) ?? expectedCells[version]?.[id];
