import type { Install } from '../../engine/schema.ts';
import { conflictsIn } from '../conflicts.ts';
import type { Draft } from '../draft.ts';
import { draft } from '../draft.ts';
import type { Reading } from '../reading.ts';
import { recorded } from '../recorded.ts';
import { overlay } from '../remedies/overlay.ts';
import { setAside } from '../remedies/set-aside.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const sourceEdits: CheckDefinition = {
  id: 'source-edits',
  summary: 'the engine’s own files are as they were installed',
  run({ reading }) {
    const { install } = reading;
    if (install === null) return skip('no install was found');
    return done([...withoutEffect(reading, install), ...edited(reading, install)], install.state);
  },
};

/** `start_server` is always called with a value, so neither its default nor the module constant counts (0.12 to 0.15). */
function withoutEffect(reading: Reading, install: Install): Draft[] {
  if (install.chatDefaultOnly !== true) return [];
  return [
    draft('PATCH_INEFFECTIVE', {
      args: { patch: 'embedded-chat', install: install.root },
      evidence: [
        `${install.packageDir}/web_server.py has a default of True, and start_server still assigns its parameter`,
      ],
      remedies: [overlay(reading, 'embedded-chat')],
    }),
  ];
}

/** Left by the engine itself in its tree; "dirty" alone is no edit of a person. */
const ownFiles =
  /(^|\/)(\.bytecode-fingerprint|\.hermes-runtime|__pycache__|install-stamp\.json|\.install_method|venv|\.venv|build|node_modules|[^/]+\.egg-info)(\/|$)/;

/** An edit of web_server.py that a client needs is told apart from what people changed for themselves. */
const isForClients = (install: Install, file: string): boolean =>
  file.endsWith('hermes_cli/hermes_compat_model_library.py') ||
  (file.endsWith('hermes_cli/web_server.py') &&
    (install.modelLibrary === 'present' ||
      install.chatDefaultOnly === true ||
      (install.generation === 'G0' && install.chatAssignment === 'always-on')));

/** What our marker says that we wrote into this install: `patch status` watches over it. */
const writtenByUs = ({ home }: Reading, install: Install): string[] =>
  (home === null ? [] : recorded(home))
    .filter((entry) => entry.carrier === 'source' && entry.install === install.id)
    .flatMap(({ files }) => files);

function edited(reading: Reading, install: Install): Draft[] {
  const backups = new Set(install.residue?.backups);
  const ours = writtenByUs(reading, install);
  const files = [...new Set([...install.editedFiles, ...(install.git?.dirty ?? [])])].filter(
    (file) => !ownFiles.test(file) && !backups.has(file) && !ours.some((path) => path.endsWith(`/${file}`)),
  );
  const forClients = files.filter((file) => isForClients(install, file));
  // A merge that stopped half way is no edit of a person, and has a finding of its own.
  const conflicts = conflictsIn(install);
  const foreign =
    install.git === null
      ? []
      : files.filter((file) => !forClients.includes(file) && !conflicts.includes(file));
  const others = install.git === null ? files : forClients;
  return [
    ...(others.length === 0
      ? []
      : [
          draft('INSTALL_EDITED', {
            args: { files: others, install: install.root },
            evidence: others.slice(0, 6).map((file) => `${file} differs from what was installed`),
          }),
        ]),
    ...(foreign.length === 0
      ? []
      : [
          draft('FOREIGN_EDITS', {
            args: { files: foreign, install: install.root },
            evidence: foreign.slice(0, 6).map((file) => `git status names ${file}`),
            remedies: [setAside(reading, install, foreign)],
          }),
        ]),
  ];
}
