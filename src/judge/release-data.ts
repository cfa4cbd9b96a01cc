import type { CapabilityId } from './capability-ids.ts';
import type { PyVersion } from '../engine/version.ts';
import { atLeast, before } from './version.ts';

/** The first upstream release that offers a capability. `model-library` is in none: clients add it. */
const since: Record<Exclude<CapabilityId, 'model-library' | 'contract'>, string> = {
  status: '0.9.0',
  sessions: '0.9.0',
  'session-messages': '0.9.0',
  ws: '0.12.0',
  rpc: '0.12.0',
  'embedded-chat': '0.12.0',
  'model-options': '0.12.0',
  'model-set': '0.12.0',
  'ticket-auth': '0.15.0',
  attachments: '0.17.0',
  'large-attachments': '0.19.1',
  'server-requests': '0.21.3',
};

/** Says from the version alone whether a release offers it. */
export function releaseOffers(id: CapabilityId, version: PyVersion): { offers: boolean; since: string } {
  if (id === 'contract') return { offers: atLeast(version, '0.16.0'), since: '0.16.0' };
  if (id === 'model-library') return { offers: false, since: 'no release' };
  return { offers: atLeast(version, since[id]), since: since[id] };
}

/** `tui_gateway/server.py` DESKTOP_BACKEND_CONTRACT by release, lower bound each. The numbers of 0.21.1 and 0.21.2 were never seen. */
const contracts: readonly [release: string, contract: number | null][] = [
  ['0.22.0', 8],
  ['0.21.5', 8],
  ['0.21.3', 7],
  ['0.21.1', null],
  ['0.20.1', 6],
  ['0.19.1', 5],
  ['0.19.0', 4],
  ['0.17.0', 2],
  ['0.16.0', 1],
];

/** The newest release that the data was made from; what is later may differ. */
const newestKnown = '0.23';

/** The contract that a release has, by its version: a number, `none` before there was one, null when nobody knows. */
export function contractOfRelease(version: PyVersion): number | 'none' | null {
  if (before(version, '0.16.0')) return 'none';
  if (atLeast(version, newestKnown)) return null;
  return contracts.find(([release]) => atLeast(version, release))?.[1] ?? null;
}

/** Releases whose embedded chat is off unless the launch turns it on. */
export const chatNeedsSwitch = (version: PyVersion): boolean =>
  atLeast(version, '0.12.0') && before(version, '0.16.0');

/** Releases that take `dashboard.public_url` as an accepted Host (measured on 0.22, refused on 0.19 and 0.20). */
export const acceptsPublicUrl = (version: PyVersion): boolean => atLeast(version, '0.22.0');
