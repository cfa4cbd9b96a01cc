import type { Reach } from './reach.ts';
import { reach } from './reach.ts';
import type { Reading } from './reading.ts';
import { read } from './reading.ts';
import type { Facts } from '../probe/schema.ts';
import type { Socket } from './socket.ts';
import { socket } from './socket.ts';
import type { Standing } from './standing.ts';
import { standing } from './standing.ts';

/** What the facts come to, step by step: the address, the credential, the upgrade. Each step is only asked when the one before it passed. */
export interface Diagnosis {
  reading: Reading;
  reach: Reach;
  /** null when no dashboard was reached. */
  credential: Standing | null;
  socket: Socket | null;
}

export function diagnose(facts: Facts, client: string): Diagnosis {
  const reading = read(facts, client);
  const reached = reach(reading);
  if (reached.state !== 'reached') return { reading, reach: reached, credential: null, socket: null };
  const credential = standing(reading);
  return { reading, reach: reached, credential, socket: socket(reading, credential) };
}
