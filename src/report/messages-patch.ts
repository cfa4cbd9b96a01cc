import type { Messages } from './message.ts';
import { few, has, value } from './message.ts';

const patch = (args: Parameters<Messages[string]['says']>[0]): string => value(args, 'patch', 'the patch');

/** Patches, markers, and what updates leave behind. */
export const patchMessages: Messages = {
  PATCH_INEFFECTIVE: {
    says: () => 'The chat edit in the engine has no effect: only a default was changed',
    means:
      'start_server is always called with a value, so its default and the module constant do not matter.',
    seen: 'The default or the constant says True while the assignment still takes the parameter.',
    todo: 'Use the overlay with `hermes-compat doctor --fix`; the edit can be taken out.',
  },
  OVERLAY_NOT_LOADED: {
    says: () => 'Our overlay is in place, but the running dashboard has not loaded it',
    means: 'It is loaded at start, and from 0.18 on only when config.yaml enables it.',
    seen: 'The overlay’s files are there and its route does not answer.',
    todo: 'Restart the dashboard; if it stays away, see `plugins.enabled` and `plugins.isolation` in config.yaml and logs/errors.log.',
  },
  PATCH_MODIFIED: {
    says: (args) => `${patch(args)} was changed by somebody after it was applied`,
    means: 'It is neither ours nor absent, so it is not touched.',
    seen: 'The bytes are neither those before nor those after our change.',
    todo: 'Look at the difference with `hermes-compat patch status`, then revert or keep it by hand.',
  },
  PATCH_OLDER: {
    says: (args) => `${patch(args)} is there in an older revision`,
    means: 'It works as that revision did.',
    seen: 'Its bytes are those of an earlier revision.',
    todo: 'Apply it again with `hermes-compat doctor --fix`.',
  },
  PATCH_BY_OTHER: {
    says: (args) => `${patch(args)} is already there, put in by ${value(args, 'by', 'another tool')}`,
    means: 'It does the same; ours is not added a second time.',
    seen: 'Marker lines of another tool in the source.',
    todo: 'Nothing. An update of the engine can lose it; the overlay would stay.',
  },
  PATCH_LOST: {
    says: (args) => `${patch(args)} was recorded as applied and is gone`,
    means: 'An update or a checkout replaced the file.',
    seen: 'The marker names it and the bytes do not have it.',
    todo: 'Apply it again with `hermes-compat doctor --fix`, and `hermes-compat hook install` for the next time.',
  },
  PATCH_PARKED_IN_STASH: {
    says: (args) => `An edit for clients lies parked in a git stash: ${value(args, 'stash', '')}`,
    means: 'The engine’s updater put it aside and did not bring it back, while reporting success.',
    seen: 'A hermes-update-autostash entry that touches the files of a patch.',
    todo: 'Apply the patch anew with `hermes-compat doctor --fix`; then look at the entry with git stash show -p and drop it.',
  },
  PATCH_NOT_NEEDED: {
    says: (args) => `${patch(args)} is not needed any more: the engine does it itself`,
    means: 'It can stay or go; it changes nothing.',
    seen: 'The structure of the engine has it built in.',
    todo: 'Take it out with `hermes-compat patch revert`.',
  },
  STRUCTURE_UNKNOWN: {
    says: (args) =>
      `The engine’s source is not as expected${has(args, 'lookedFor') ? `: no ${value(args, 'lookedFor', '')}` : ''}; nothing was written`,
    means: 'A patch is only placed where it fits exactly once.',
    seen: 'An anchor was absent or there more than once.',
    todo: 'See with `hermes-compat patch plan --carrier overlay` whether the other carrier fits, and report the version of the engine.',
  },
  MARKER_CORRUPT: {
    says: (args) => `The marker ${value(args, 'path', '')} cannot be read as JSON`,
    means: 'It is only a note of what was done; the bytes decide.',
    seen: 'The file does not parse.',
    todo: 'Apply or revert again, which writes it anew; or delete it.',
    now: (args) => `Apply or revert again, which writes it anew, or delete ${value(args, 'path', 'it')}.`,
  },
  MARKER_MISMATCH: {
    says: (args) =>
      `The marker ${value(args, 'path', '')} claims what the files do not show: ${value(args, 'claim', 'a change')}`,
    means: 'An update or another tool changed the files after it was written.',
    seen: 'The claim of the marker against overlay and source.',
    todo: 'Run `hermes-compat patch status`; `patch apply` writes our marker anew, `doctor --fix` brings what another’s marker claims.',
  },
  JOURNAL_UNFINISHED: {
    says: () => 'An earlier change was interrupted and is not finished',
    means: 'The next change first brings everything back to a whole state.',
    seen: 'A journal in desktop-compat/ without an end.',
    todo: 'Run `hermes-compat doctor --fix` or `patch revert`, which recover first.',
  },
  LOCK_HELD: {
    says: (args) =>
      value(args, 'alive', '') === 'false'
        ? `A lock was left behind by pid ${value(args, 'pid', '?')}, which is gone`
        : `Another hermes-compat (pid ${value(args, 'pid', '?')}) is changing this home`,
    means: 'Only one program changes a home at a time.',
    seen: 'The lock in desktop-compat/ and whether its owner lives.',
    todo: 'Wait for it; if its process is gone, run `hermes-compat patch unlock`.',
  },
  UPDATE_IN_PROGRESS: {
    says: (args) =>
      `The engine is being updated right now${value(args, 'by', '') === 'ours' ? ' by hermes-compat' : ''}${has(args, 'pid') ? ` (pid ${value(args, 'pid', '')})` : ''}`,
    means: 'Its files change under us, so nothing is changed and this report may be out of date soon.',
    seen: 'The updater’s lock, whose process is alive.',
    todo: 'Wait until it ends, then check again.',
  },
  UPDATE_INTERRUPTED: {
    says: (args) =>
      value(args, 'by', '') !== 'ours'
        ? 'An update of the engine was interrupted'
        : value(args, 'prepared', '') === 'true'
          ? 'An update was prepared by `hermes-compat pre-update`, and `post-update` is missing'
          : `Our own update was cut after the step "${value(args, 'step', '?')}"`,
    means: 'Files of two versions may lie side by side, or edits of ours are out.',
    seen: 'The updater’s lock without its process, files that name different versions, or our state in desktop-compat/update.',
    todo: 'Run the update again to its end, best with `hermes-compat update`, which goes on where one of ours stood.',
  },
  CONFLICT_MARKERS: {
    says: (args) =>
      value(args, 'marked', '') === '0'
        ? `A merge stopped half way in ${few(args, 'files', 'the source')}`
        : `Merge conflict markers are in ${few(args, 'files', 'the source')}`,
    means: 'Python cannot load such a file; the dashboard ends at its next start.',
    seen: 'Lines of <<<<<<< and >>>>>>> in the engine’s code or a changed Python file, or files that git has not merged.',
    todo: 'Take the engine’s version of these files, then apply again what is needed; yours are kept.',
  },
  STALE_BYTECODE: {
    says: (args) => `Old compiled code would run instead of the source: ${few(args, 'files', '')}`,
    means: 'A change of the source has no effect until that file is gone.',
    seen: 'A .pyc whose record of size and time matches although the source differs, or that is never checked.',
    todo: 'Delete the compiled files that are named, then restart the dashboard.',
  },
  BACKUP_LEFTOVER: {
    says: (args) => `Backup copies lie in the engine’s tree: ${few(args, 'files', '')}`,
    means: 'The updater sweeps them into its stash, and they may be of an old version.',
    seen: '*.orig and similar beside the engine’s sources.',
    todo: 'Move or delete them.',
  },
  FOREIGN_EDITS: {
    says: (args) => `Edits that are not ours are in the checkout: ${few(args, 'files', '')}`,
    means: 'The updater stashes them and may not bring them back; we leave them as they are.',
    seen: 'git status, without the files of our patches.',
    todo: 'Commit them to a branch of your own or move them out of the checkout.',
  },
  STASH_LEFTOVER: {
    says: (args) =>
      `An update left ${value(args, 'count', 'a')} git stash ${value(args, 'count', '1') === '1' ? 'entry' : 'entries'} behind`,
    means: 'Local edits were put aside and not brought back.',
    seen: 'hermes-update-autostash entries in git stash list.',
    todo: 'Look at it with git stash show -p, then apply it, or drop it after it was saved.',
  },
};
