import { draft } from '../draft.ts';
import { launchOnPath } from '../remedies/launch.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const installs: CheckDefinition = {
  id: 'installs',
  summary: 'the command on PATH and the dashboard are of one install',
  run({ reading }) {
    const { install, facts } = reading;
    if (install === null || facts.service === null) return skip('no install serves a dashboard here');
    const onPath = facts.installs.find((each) => each.onPath);
    if (onPath === undefined || onPath.id === install.id) return done([], `${facts.installs.length} found`);
    return done([
      draft('MULTI_INSTALL', {
        args: {
          served: install.root,
          onPath: onPath.root,
          installs: facts.installs.map((each) => each.root),
        },
        evidence: [
          `the dashboard runs ${install.root} (${install.version ?? 'version unknown'})`,
          `hermes on PATH is ${onPath.root} (${onPath.version ?? 'version unknown'})`,
        ],
        remedies: [launchOnPath(reading, onPath)],
      }),
    ]);
  },
};
