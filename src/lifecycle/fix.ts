import type { Located } from '../engine/locate.ts';
import type { Report } from '../judge/schema.ts';
import type { Session } from '../patch/change.ts';
import type { ChangeDocument } from '../patch/schema.ts';
import { changeTarget, type ChangeRequest } from './patch-change.ts';

/** Ids of the patches that a report asks for: those of its overlay and source remedies. Others are printed, never run. */
export const patchesWanted = (report: Report): string[] => [
  ...new Set(
    report.remedies.flatMap(({ carrier, patch }) =>
      (carrier === 'overlay' || carrier === 'source') && patch !== undefined ? [patch] : [],
    ),
  ),
];

/**
 * `doctor --fix`: applies what a report misses, by the overlay unless told otherwise; the caller checks again afterwards. null:
 * the report asks for no patch.
 *
 * @throws CompatError refused (also: nobody agreed), rolled-back, half-done, interrupted, unchecked (a restart failed)
 */
export async function fix(
  session: Session,
  located: Located,
  report: Report,
  request: Omit<ChangeRequest, 'options' | 'saved' | 'purge'> & { carrier: 'overlay' | 'source' | null },
): Promise<ChangeDocument | null> {
  const patches = patchesWanted(report);
  if (patches.length === 0) return null;
  const { carrier, ...rest } = request;
  const options = { do: 'apply' as const, patches, carrier, allowNonLoopback: false, replace: false };
  return changeTarget(session, located, { ...rest, options, saved: null, purge: false });
}
