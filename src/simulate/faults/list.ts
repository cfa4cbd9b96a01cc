import { usageError } from '../../errors.ts';
import { bodyFaults } from './body.ts';
import { edgeFaults } from './edge.ts';
import type { Fault } from './fault.ts';
import { fieldFaults } from './fields.ts';
import { socketFaults } from './socket.ts';
import { timeFaults } from './time.ts';

/** Every fault, in the order of `simulate --list`. */
export const faults: readonly Fault[] = [
  ...edgeFaults,
  ...timeFaults,
  ...bodyFaults,
  ...socketFaults,
  ...fieldFaults,
];

/** @throws CompatError usage when there is no such fault */
export const findFault = (name: string): Fault => {
  const found = faults.find((fault) => fault.name === name);
  if (found === undefined)
    throw usageError(`there is no fault "${name.slice(0, 40)}"; hermes-compat simulate --list names them`);
  return found;
};
