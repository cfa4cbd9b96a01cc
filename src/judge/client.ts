import { readFile, readdir } from 'node:fs/promises';
import type { CapabilityId } from './capability-ids.ts';
import { packaged } from '../tool.ts';

/** What one client needs of a dashboard: a file of `clients/`, data only. */
export interface Client {
  name: string;
  title: string;
  requires: CapabilityId[];
  /**
   * `wanted`: the lowest contract that the client is happy with. `known`: the highest that it was written for.
   * `required`: below `wanted` it refuses to work instead of warning.
   */
  contract: { wanted: number; known: number; required: boolean } | null;
  /** Where this was read, and when. */
  source: string;
  date: string;
}

export const defaultClient = 'hermes-one';

/** Every client that ships, by name. */
export async function readClients(): Promise<Client[]> {
  const folder = packaged('clients/');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
  return texts.map((text) => JSON.parse(text) as Client);
}
