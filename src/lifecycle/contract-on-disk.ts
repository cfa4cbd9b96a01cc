import type { EngineProcess, Install } from '../engine/schema.ts';

/** What the tree says of the contract, where that is what the process runs: a file newer than the process proves nothing. */
export function contractOnDisk(
  install: Install | null,
  running: EngineProcess | null,
): Install['contract'] | null {
  if (install === null || install.contract.state === 'unknown') return null;
  if (running !== null && running.newerFiles.length > 0) return null;
  return install.contract;
}
