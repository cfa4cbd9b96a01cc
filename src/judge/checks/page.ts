import type { Draft } from '../draft.ts';
import { draft } from '../draft.ts';
import type { Reading } from '../reading.ts';
import { pathPrefix, proxyRemedies } from '../remedies/proxy.ts';
import { sawHttp } from '../saw.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const page: CheckDefinition = {
  id: 'page',
  summary: 'the dashboard’s page and its script load in a browser',
  probes: ['page', 'asset'],
  run({ reading, reach }) {
    if (reach.state === 'absent') return withoutDashboard(reading);
    if (reach.state !== 'reached') return skip('no dashboard was reached');
    return done([...missingPage(reading), ...script(reading), ...basePath(reading), ...staleBuild(reading)]);
  },
};

function withoutDashboard(reading: Reading): ReturnType<CheckDefinition['run']> {
  if (reading.install?.webBuild !== 'missing' || reading.home?.envFile.webDist != null)
    return skip('no dashboard runs');
  return done([
    draft('WEB_BUILD_MISSING', {
      confidence: 'likely',
      evidence: [`${reading.install.packageDir} has no web_dist`],
    }),
  ]);
}

function missingPage(reading: Reading): Draft[] {
  const fact = reading.http('page');
  const detail = fact?.body?.detail ?? '';
  if (fact === null) return [];
  if (/Frontend not built/i.test(detail)) return [draft('WEB_BUILD_MISSING', { evidence: [sawHttp(fact)] })];
  if (/Headless backend/i.test(detail)) return [draft('HEADLESS', { evidence: [sawHttp(fact)] })];
  return [];
}

/** A page whose script is HTML or an error shows nothing in a browser. */
function script(reading: Reading): Draft[] {
  const asset = reading.http('asset');
  if (asset === null || asset.status === null) return [];
  const isScript = asset.status === 200 && !['html', 'empty', 'json'].includes(asset.body?.kind ?? '');
  if (isScript) return [];
  return [
    draft('WEB_ASSETS_BROKEN', {
      args: { script: reading.http('page')?.body?.page?.script ?? null, status: asset.status },
      evidence: [sawHttp(asset)],
    }),
  ];
}

function basePath(reading: Reading): Draft[] {
  const believed = reading.http('page')?.body?.page?.basePath ?? null;
  if (believed === null) return [];
  const plain = believed.replace(/\/+$/, '');
  const reached = pathPrefix(reading.facts.service?.url ?? '');
  if (plain === reached) return [];
  return [
    draft('BASE_PATH_MISMATCH', {
      args: { page: plain || '/', url: reached || '/' },
      evidence: [
        `the page says __HERMES_BASE_PATH__="${believed}"`,
        `it was asked at ${reading.facts.service?.url ?? ''}`,
      ],
      remedies: proxyRemedies(reading, 'prefix-header'),
    }),
  ];
}

function staleBuild({ install }: Reading): Draft[] {
  if (install?.residue?.webBuildStale !== true) return [];
  const remedies =
    install.method === 'git'
      ? [
          {
            id: 'build-web',
            carrier: 'config' as const,
            where: 'here' as const,
            commands: [
              ['npm', '--prefix', `${install.root}/web`, 'install', '--no-fund', '--no-audit'],
              ['npm', '--prefix', `${install.root}/web`, 'run', 'build'],
            ],
            restart: 'dashboard' as const,
            reversible: false,
          },
        ]
      : [];
  return [
    draft('WEB_BUILD_STALE', {
      evidence: [`the web build in ${install.root} is older than its server`],
      remedies,
    }),
  ];
}
