import { readFileSync } from 'node:fs';
import type { Host } from '../host/types.ts';
import { packaged } from '../tool.ts';
import type { HostFacts } from './schema.ts';

/**
 * What the path is that a target names, by the rules of `locate`, without its look at everything else: one small shell script.
 * Absolute path on that host.
 */
export async function namedPath(host: Host, path: string, defaultHome: string): Promise<HostFacts['named']> {
  const rules = readFileSync(packaged('host-scripts/gather/which-home.sh'), 'utf8');
  const ask = 'ask_path=$1 default_home=$2\nname_path\nprintf %s "$named"\n';
  const { stdout } = await host.script(`${rules}\n${ask}`, [path, defaultHome]);
  return (stdout.toString('utf8').trim() || null) as HostFacts['named'];
}
