import { randomBytes } from 'node:crypto';
import { CompatError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { FileChange } from './draft.ts';
import { fileErrorsAs, findingOf } from './file-trouble.ts';
import { finish } from './finish.ts';
import { ensureFolder, ensureStateFolder, hashOf, journalFolder, writeJournal } from './journal.ts';
import { removeBytecode } from './bytecode.ts';
import { rollBack } from './roll-back.ts';
import type { Journal } from './journal-schema.ts';
import { sha256 } from './text.ts';
import { dirname, join } from './world.ts';

/** A change with all that belongs to it. */
export interface Transaction extends Pick<
  Journal,
  'action' | 'patches' | 'emptied' | 'marker' | 'shared' | 'trees'
> {
  /** Root home, whose desktop-compat holds the journal. */
  root: string;
  changes: readonly FileChange[];
  /** Whose owner and mode a new file takes; null: our own, 0644. */
  modelFor(change: FileChange): string | null;
  /** These old bytes hold nothing of ours. */
  isOriginal(change: FileChange): boolean;
  /** Drives the real thing with the new bytes in place. Throws when it does not work. */
  verify(): Promise<void>;
  signal: AbortSignal | null;
  at: string;
}

/**
 * Carries out a change, all or nothing. The journal is there before the first file beside a target and goes last; so a run
 * that is cut at any moment leaves what `recover` needs.
 *
 * @throws CompatError rolled-back, half-done (the journal is named), interrupted, refused (the files changed under us)
 */
export async function carryOut(host: Host, transaction: Transaction): Promise<void> {
  const { root } = transaction;
  const journal = await fileErrorsAs('refused', 'nothing could be prepared', () =>
    newJournal(host, transaction),
  );
  try {
    await ensureStateFolder(host, root);
    await ensureFolder(host, journalFolder(root));
    await keepOriginals(host, journal, transaction);
    await writeJournal(host, root, journal);
    await stage(host, journal, transaction);
    await refuseDrift(host, transaction);
    stopIfAsked(transaction.signal);
    await writeJournal(host, root, { ...journal, phase: 'renaming' });
    await renameAll(host, journal);
    await checkAll(host, journal);
    await removeBytecode(host, journal.bytecode);
    await transaction.verify();
    stopIfAsked(transaction.signal);
    await writeJournal(host, root, { ...journal, phase: 'committed' });
  } catch (error) {
    await undo(host, root, journal, error);
  }
  try {
    await finish(host, root, journal);
  } catch (cause) {
    throw new CompatError('half-done', `everything is changed, but not recorded yet: ${textOf(cause)}`, {
      finding: 'JOURNAL_UNFINISHED',
      journal: journalFolder(root),
      cause,
    });
  }
}

async function newJournal(host: Host, transaction: Transaction): Promise<Journal> {
  const { root, action, patches, emptied, marker, shared, trees, at } = transaction;
  const id = randomBytes(6).toString('hex');
  const changes = transaction.changes.map((change, index): Journal['changes'][number] => {
    const { state, before, after } = change;
    const beside = join(dirname(state.real), `.hermes-compat-${id}-${index}`);
    return {
      path: state.real,
      beforeSha256: before === null ? null : sha256(before),
      afterSha256: after === null ? null : sha256(after),
      stagedNew: after === null ? null : `${beside}.new`,
      stagedOld: before === null ? null : `${beside}.old`,
      original: before === null ? null : join(journalFolder(root), `${index}.original`),
      mode: state.stat?.mode ?? newMode(state.path),
      backup: before !== null && transaction.isOriginal(change),
    };
  });
  const python = transaction.changes.map(({ state }) => state.real).filter((path) => path.endsWith('.py'));
  const folders = await missingFolders(host, transaction.changes);
  return {
    journalVersion: 1,
    id,
    action,
    phase: 'staging',
    at,
    patches,
    changes,
    folders,
    emptied,
    bytecode: python,
    marker,
    shared,
    trees,
  };
}

/** A configuration can hold keys one day. */
const newMode = (path: string): number => (path.endsWith('/config.yaml') ? 0o600 : 0o644);

/** Folders above new files that are not there, outermost first. */
async function missingFolders(host: Host, changes: readonly FileChange[]): Promise<string[]> {
  const missing = new Set<string>();
  for (const { state, after } of changes) {
    if (after === null) continue;
    for (let folder = dirname(state.real); (await host.stat(folder, true)) === null; folder = dirname(folder))
      missing.add(folder);
  }
  return [...missing].sort((a, b) => a.length - b.length);
}

async function keepOriginals(host: Host, journal: Journal, { changes }: Transaction): Promise<void> {
  for (const [index, { before }] of changes.entries()) {
    const path = journal.changes[index]?.original;
    if (before === null || path === null || path === undefined) continue;
    await host.removeFile(path);
    await host.createFile(path, before, 0o600);
  }
}

async function stage(host: Host, journal: Journal, transaction: Transaction): Promise<void> {
  for (const folder of journal.folders) await host.mkdir(folder, 0o755);
  for (const [index, change] of transaction.changes.entries()) {
    stopIfAsked(transaction.signal);
    const { before, after, state } = change;
    const { stagedNew, stagedOld, mode } = journal.changes[index] as Journal['changes'][number];
    if (before !== null && stagedOld !== null) {
      await host.createFile(stagedOld, before, mode);
      await host.copyOwnership(state.real, stagedOld);
    }
    if (after !== null && stagedNew !== null) {
      await host.createFile(stagedNew, after, mode);
      const model = before === null ? transaction.modelFor(change) : state.real;
      if (model !== null) await host.copyOwnership(model, stagedNew);
    }
  }
}

/** The lock keeps out our own kind; an editor or an update may have been faster. */
async function refuseDrift(host: Host, { changes }: Transaction): Promise<void> {
  for (const { state, before } of changes) {
    const now = await hashOf(host, state.real);
    if (now !== (before === null ? null : sha256(before))) {
      throw new CompatError('refused', `${state.path} was changed by another program while we prepared`, {
        finding: 'FOREIGN_EDITS',
        args: { path: state.path },
      });
    }
  }
}

async function renameAll(host: Host, journal: Journal): Promise<void> {
  for (const { path, stagedNew } of journal.changes) {
    if (stagedNew === null) await host.removeFile(path);
    else await host.rename(stagedNew, path);
  }
}

async function checkAll(host: Host, journal: Journal): Promise<void> {
  for (const { path, afterSha256 } of journal.changes) {
    if ((await hashOf(host, path)) !== afterSha256) throw new Error(`${path} does not hold what was written`);
  }
}

const stopIfAsked = (signal: AbortSignal | null): void => {
  if (signal?.aborted === true) throw new CompatError('interrupted', 'interrupted; everything is as it was');
};

/** Always throws: what went wrong, and how far the way back went. */
async function undo(host: Host, root: string, journal: Journal, cause: unknown): Promise<never> {
  try {
    await rollBack(host, root, journal);
  } catch (failure) {
    throw new CompatError('half-done', `${textOf(cause)}; then going back failed: ${textOf(failure)}`, {
      finding: 'JOURNAL_UNFINISHED',
      journal: journalFolder(root),
      cause: failure,
    });
  }
  if (cause instanceof CompatError && (cause.kind === 'interrupted' || cause.kind === 'refused')) throw cause;
  const details = cause instanceof CompatError ? cause.details : {};
  const finding = details.finding ?? findingOf(cause);
  throw new CompatError('rolled-back', `${textOf(cause)}; everything is as it was`, {
    ...details,
    ...(finding === null ? {} : { finding }),
    cause,
  });
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
