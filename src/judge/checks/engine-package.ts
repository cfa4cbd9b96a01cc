import { draft } from '../draft.ts';
import type { Reach } from '../reach.ts';
import { update } from '../remedies/update.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const enginePackage: CheckDefinition = {
  id: 'engine-package',
  summary: 'every module that the dashboard imports is installed',
  run({ reading, reach }) {
    if (!reading.hasDisk) return skip('the disk cannot be read from here');
    if (reach.state === 'reached') return done([], 'the dashboard runs');
    const install = reading.install ?? reading.facts.installs[0] ?? null;
    if (install === null) return skip('no install was found');
    if (install.missingModules.length === 0) return done([]);
    return done([
      draft('ENGINE_BROKEN_PACKAGE', {
        args: {
          module: install.missingModules[0] ?? null,
          modules: install.missingModules,
          version: install.version,
          install: install.root,
        },
        evidence: [
          `hermes_cli.web_server imports ${install.missingModules.join(', ')}, which ${install.packageDir} does not have`,
          ...startsFailed(reach),
        ],
        remedies: [update({ ...reading, install }, '0.16.0')],
      }),
    ]);
  },
};

/** What a start of it printed, where one was tried. */
const startsFailed = (reach: Reach): string[] =>
  reach.state !== 'failed'
    ? []
    : reach.drafts.filter(({ code }) => code === 'ENGINE_BROKEN_PACKAGE').flatMap(({ evidence }) => evidence);
