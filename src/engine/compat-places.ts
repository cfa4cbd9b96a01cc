/**
 * Where hermes-compat keeps its own things on a host: read by discovery, written by patches.
 * Absolute POSIX paths. `root` is the root home; `home` the one whose plugins the dashboard reads.
 */

/** Folder that Hermes One uses too; ours in it: marker, journal, lock, backups, history. */
export const compatFolder = (root: string): string => `${root}/desktop-compat`;

/** JSON, `entries[]`: what we applied. A claim: bytes decide. */
export const markerFile = (root: string): string => `${compatFolder(root)}/hermes-compat.json`;

/** In the fields that Hermes One reads and writes; its `version` starts with `hermes-compat` when ours. */
export const sharedMarkerFile = (root: string): string =>
  `${compatFolder(root)}/dashboard-embedded-chat.json`;

/** Exists only while a change is going on, or after one that was cut. */
export const journalFile = (root: string): string => `${compatFolder(root)}/journal/journal.json`;

/** One entry a holder, named `<hostname>~<pid>~<start time>~<nonce>`; an empty or missing folder is no lock. */
export const lockFolder = (root: string): string => `${compatFolder(root)}/lock`;

/** The same for a tree that several homes may share; beside the files that are edited. */
export const treeLockFolder = (packageDir: string): string => `${packageDir}/.hermes-compat-lock`;

/** The dashboard plugin. Its `manifest.json` says in `"hermes-compat": {revision, patches: [{id, revision, module}]}` what it carries. */
export const overlayFolder = (home: string): string => `${home}/plugins/hermes-compat/dashboard`;

/** What `launch` keeps of each dashboard that it started: record `<id>.json`, log, token file. Mode 0700. */
export const launchFolder = (root: string): string => `${compatFolder(root)}/launch`;

/** What hooks keep: fingerprint of the last look `seen.json`, log, `installed.json`, `due` (a dashboard started). Mode 0700. */
export const hookFolder = (root: string): string => `${compatFolder(root)}/hooks`;

/** An engine update of ours that is going on, or was cut: `state.json`, and what its updater says and left. Mode 0700. */
export const updateFolder = (root: string): string => `${compatFolder(root)}/update`;

/** Held by an `update` as long as it works. */
export const updateLockFolder = (root: string): string => `${updateFolder(root)}/lock`;

/** Held by a look of the hook. */
export const hookLockFolder = (root: string): string => `${hookFolder(root)}/lock`;

/** Every lock of ours that can stand in the way of this home and tree. */
export const lockFolders = (root: string, packageDir: string | null): string[] => [
  lockFolder(root),
  ...(packageDir === null ? [] : [treeLockFolder(packageDir)]),
  updateLockFolder(root),
  hookLockFolder(root),
];
