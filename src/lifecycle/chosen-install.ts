import type { Install } from '../engine/schema.ts';
import type { Seen } from './choose-service.ts';

/** The install that the target means; a bystander does not answer for it. */
export const chosenInstall = (seen: Seen | null): Install | null =>
  seen?.installs.find(({ id }) => id === seen.host.chosen?.install) ?? null;
