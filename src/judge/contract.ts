import type { ContractFact } from '../probe/schema.ts';
import type { Reading } from './reading.ts';
import { contractOfRelease } from './release-data.ts';
import type { Report } from './schema.ts';

export interface ContractView {
  known: Report['engine']['contract'];
  /** The value as it came when it is not a whole number, and why nothing is known. */
  raw: string | null;
  why: string | null;
  confidence: 'certain' | 'likely';
}

const whole = (value: number | null): value is number =>
  value !== null && Number.isSafeInteger(value) && value >= 0;

const nothing = (fact: ContractFact): ContractView => ({
  known: { value: null, from: null, state: 'unknown' },
  raw: fact.raw,
  why: fact.why,
  confidence: 'certain',
});

/** A session was made and did not tell: a release number must not answer in its place. */
const wasAsked = (fact: ContractFact): boolean =>
  fact.from === 'rpc' || /session\.create|the new session/.test(fact.why ?? '');

/**
 * The contract that counts: what the probe read, else what the tree on disk says, else what the release is known to have.
 * A value of the wrong type stays unknown: something answered, and it is not for us to guess what.
 */
export function contractView(reading: Reading): ContractView {
  const { contract: fact } = reading.facts;
  if (fact.state === 'known' && whole(fact.value))
    return {
      known: { value: fact.value, from: fact.from, state: 'known' },
      raw: null,
      why: null,
      confidence: 'certain',
    };
  if (fact.state === 'none')
    return {
      known: { value: null, from: fact.from, state: 'none' },
      raw: null,
      why: fact.why,
      confidence: 'certain',
    };
  if (fact.raw !== null || fact.state === 'known' || wasAsked(fact)) return nothing(fact);
  return fromDisk(reading) ?? fromRelease(reading) ?? nothing(fact);
}

function fromDisk(reading: Reading): ContractView | null {
  const onDisk = reading.install?.contract;
  const newer = (reading.process?.newerFiles.length ?? 0) > 0;
  if (onDisk === undefined || newer || onDisk.state === 'unknown') return null;
  if (onDisk.state === 'known' && !whole(onDisk.value)) return null;
  return {
    known: { value: onDisk.value, from: 'source', state: onDisk.state },
    raw: null,
    why: null,
    confidence: 'likely',
  };
}

function fromRelease(reading: Reading): ContractView | null {
  if (reading.version === null) return null;
  const contract = contractOfRelease(reading.version);
  if (contract === null) return null;
  return {
    known: {
      value: contract === 'none' ? null : contract,
      from: 'version',
      state: contract === 'none' ? 'none' : 'known',
    },
    raw: null,
    why: null,
    confidence: 'likely',
  };
}
