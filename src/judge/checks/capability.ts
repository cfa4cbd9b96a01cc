import type { Capability } from '../../probe/schema.ts';
import type { CapabilityId } from '../capability-ids.ts';
import type { Diagnosis } from '../diagnosis.ts';
import type { Draft } from '../draft.ts';
import { draft } from '../draft.ts';
import { overlayMounts } from '../model-library.ts';
import type { Reading } from '../reading.ts';
import { restart } from '../remedies/launch.ts';
import { overlay } from '../remedies/overlay.ts';
import type { CheckDefinition } from './check.ts';
import { couldNot, done, skip } from './check.ts';

/** One check for each capability that has no question of its own. Only what the client requires becomes a finding. */
const capabilityCheck = (id: CapabilityId, summary: string, probes: string[] = [id]): CheckDefinition => ({
  id,
  summary,
  decides: [id],
  probes,
  run(diagnosis, { client, capabilities }) {
    const capability = capabilities.find((each) => each.id === id);
    if (capability === undefined) return couldNot('nothing was derived');
    const said = capability.evidence[0] ?? '';
    switch (capability.state) {
      case 'yes':
        return done([], said);
      case 'not-applicable':
        return skip(said);
      case 'no':
        return client.requires.includes(id) && !brokenPackage(diagnosis)
          ? done(missing(diagnosis, capability))
          : skip(`not there; ${client.name} does not need it`);
      case 'unknown':
        return client.requires.includes(id) && canBeAsked(diagnosis) ? couldNot(said) : skip(said);
      default: {
        const never: never = capability.state;
        return never;
      }
    }
  },
});

/** Where nothing was reached, that is what was checked, and the rest hangs on it. */
const canBeAsked = ({ reading, reach }: Diagnosis): boolean =>
  reach.state === 'reached' || (reach.state === 'absent' && reading.install !== null);

const brokenPackage = ({ reading, reach }: Diagnosis): boolean =>
  reach.state === 'absent' && (reading.install?.missingModules.length ?? 0) > 0;

function missing({ reading }: Diagnosis, capability: Capability): Draft[] {
  const fromDisk = capability.evidence.every((each) => !/answered|openapi/.test(each));
  const base = {
    confidence: fromDisk ? ('likely' as const) : ('certain' as const),
    evidence: capability.evidence,
    touches: [capability.id as CapabilityId],
  };
  if (capability.id !== 'model-library')
    return [
      draft('CAPABILITY_MISSING', {
        ...base,
        args: { capability: capability.id, version: reading.versionText },
      }),
    ];
  if (reading.install?.pluginMount === 'unknown') return libraryWithoutPlace(reading, base);
  const remedies =
    reading.process !== null && overlayMounts(reading)
      ? [restart(reading)]
      : [overlay(reading, 'model-library')];
  return [draft('MODEL_LIBRARY_MISSING', { ...base, remedies })];
}

/** An engine that mounts plugins in another way than is known: neither carrier would be placed, so none is offered. */
function libraryWithoutPlace(reading: Reading, base: Partial<Draft>): Draft[] {
  const library = draft('MODEL_LIBRARY_MISSING', { ...base, args: { place: 'unknown' } });
  // The patches themselves were asked, and the check of patches takes it over.
  if (reading.facts.patchFindings?.some(({ code }) => code === 'STRUCTURE_UNKNOWN') === true)
    return [library];
  const lookedFor = '_mount_plugin_api_routes() once at module level of web_server.py';
  return [
    library,
    draft('STRUCTURE_UNKNOWN', {
      severity: 'warn',
      args: { lookedFor, patch: 'model-library' },
      evidence: [`model-library: looked for ${lookedFor}; not found`],
    }),
  ];
}

export const capabilityChecks: readonly CheckDefinition[] = [
  capabilityCheck('sessions', 'the session list answers'),
  capabilityCheck('session-messages', 'the messages of a session answer'),
  capabilityCheck('model-options', 'the list of models to choose from answers'),
  capabilityCheck('model-set', 'the model can be set', ['openapi']),
  capabilityCheck('model-library', 'the saved-model library answers', ['model-library', 'openapi']),
  capabilityCheck('attachments', 'files can be attached (contract 2)', []),
  capabilityCheck('large-attachments', 'frames over 16 MiB pass (contract 5)', []),
  capabilityCheck('server-requests', 'approvals come as requests (contract 7)', []),
  capabilityCheck('ticket-auth', 'a login gives tickets for the WebSocket', []),
];
