import type { Host } from '../host/types.ts';
import { tool } from '../tool.ts';
import { finish } from './finish.ts';
import { addHistory } from './history.ts';
import { journalFolder, readJournal, removeLeftovers } from './journal.ts';
import { rollBack } from './roll-back.ts';
import { CompatError } from '../errors.ts';
import type { Journal } from './journal-schema.ts';
import type { HistoryEntry } from './schema.ts';

/** What became of a change that was cut. */
export interface Recovery {
  journal: Journal;
  outcome: 'rolled-back' | 'finished';
}

/**
 * Ends a change that an earlier run left unfinished: back when it was not committed, forward when it was. The caller holds
 * the locks of the home and of the trees that the journal names.
 *
 * @throws CompatError half-done
 */
export async function recover(host: Host, root: string, at: string): Promise<Recovery | null> {
  const journal = await readJournal(host, root);
  if (journal === null) {
    await removeLeftovers(host, root);
    return null;
  }
  const outcome = journal.phase === 'committed' ? 'finished' : 'rolled-back';
  try {
    if (outcome === 'finished') await finish(host, root, journal);
    else await rollBack(host, root, journal);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CompatError('half-done', `a change of ${journal.at} was cut and cannot be undone: ${why}`, {
      finding: 'JOURNAL_UNFINISHED',
      journal: journalFolder(root),
      cause,
    });
  }
  await addHistory(host, root, journal.id, entryOf(journal, outcome, at));
  return { journal, outcome };
}

const entryOf = (journal: Journal, outcome: Recovery['outcome'], at: string): HistoryEntry => ({
  at,
  tool,
  action: 'recover',
  outcome,
  patches: journal.patches,
  files: journal.changes.map(({ path, beforeSha256, afterSha256 }) => ({
    path,
    beforeSha256: outcome === 'finished' ? beforeSha256 : afterSha256,
    afterSha256: outcome === 'finished' ? afterSha256 : beforeSha256,
  })),
  why: `the change of ${journal.at} was cut`,
});
