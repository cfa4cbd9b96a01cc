import type { Host } from '../../src/host/types.ts';

/** One change of the disk. `number` counts from 0. */
export interface DiskStep {
  number: number;
  method: 'mkdir' | 'createFile' | 'copyOwnership' | 'rename' | 'removeFile' | 'removeDir';
  args: readonly unknown[];
}

export function faultHost(host: Host, at: (step: DiskStep) => void | Promise<void>): Host;
