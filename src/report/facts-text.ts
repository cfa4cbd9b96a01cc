import type { EngineProcess, Install } from '../engine/schema.ts';
import type { Facts } from '../probe/schema.ts';
import { shown } from './shown.ts';

/** `detect` for people: what is there, in ten seconds. No verdict. */
export function factsText(facts: Facts): string {
  const lines = [
    `${shown(facts.target.name)}${facts.service === null ? '' : `  ${shown(facts.service.url)}`}`,
    '',
    ...section('Installs', facts.installs.map(installLine)),
    ...section('Processes', facts.processes.map(processLine)),
    ...section('Dashboard', dashboardLines(facts)),
    ...section(
      'Capabilities',
      facts.capabilities.map(({ id, state }) => `${id.padEnd(18)} ${state}`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const section = (title: string, lines: string[]): string[] =>
  lines.length === 0 ? [`${title}: none`, ''] : [title, ...lines.map((line) => `  ${line}`), ''];

const installLine = (install: Install): string =>
  shown(
    [
      install.version ?? 'version unknown',
      install.generation ?? 'structure unknown',
      install.method,
      install.state,
      install.root,
      install.onPath ? '(first on PATH)' : '',
    ]
      .filter((part) => part !== '')
      .join('  '),
  );

const processLine = (process: EngineProcess): string =>
  shown(
    `pid ${process.pid}  ${process.command}  port ${process.port ?? 'unknown'}  ${process.hermesHome ?? ''}  since ${process.startedAt ?? 'unknown'}`,
  );

function dashboardLines({ status, contract, credential, http, ws, rpc, service }: Facts): string[] {
  if (service === null) return [];
  const main = ws.find((each) => each.id === 'main');
  return [
    `version     ${shown(status?.version ?? 'unknown')}`,
    `contract    ${contract.state === 'known' ? `${contract.value} (from ${contract.from})` : contract.state}`,
    `credential  ${credential.kind === 'none' ? 'none' : `${credential.kind} from ${credential.source} (${credential.fingerprint})`}`,
    ...http.map(
      (each) =>
        `${each.id.padEnd(18)} ${each.outcome === 'answered' ? `${each.status} ${each.body?.kind ?? ''}` : each.outcome}`,
    ),
    `${'/api/ws'.padEnd(18)} ${main === undefined ? 'not tried' : `${main.outcome} ${main.status ?? ''}`}`,
    `${'rpc'.padEnd(18)} ${rpc.outcome}`,
  ].map((line) => line.trimEnd());
}
