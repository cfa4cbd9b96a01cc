import { dashboardJobs } from './dashboard-jobs.ts';
import { labEngines } from './engine-modes.ts';
import type { Job } from './job.ts';
import { patchJobs } from './patch-jobs.ts';
import { suiteJobs } from './suite-jobs.ts';
import { updateJobs } from './update-jobs.ts';

/** Everything that the matrix consists of. */
export const matrixJobs = (): Job[] => [
  ...dashboardJobs(labEngines),
  ...suiteJobs(labEngines),
  ...patchJobs(labEngines),
  ...updateJobs(),
];
