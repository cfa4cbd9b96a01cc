import { type Access, noAccess } from './access.ts';
import { readContract } from './contract.ts';
import { accessTo, credentialFact } from './credential.ts';
import { lookElsewhere } from './elsewhere.ts';
import { askGateway, skippedRpc } from './gateway.ts';
import { get, type HttpProbe, pageCap } from './http.ts';
import { readAsset, readProtected, readRoutes } from './reads.ts';
import type { Run } from './run.ts';
import type { RpcFact } from './exchange-schema.ts';
import type { ContractFact, CredentialFact, SessionListFact } from './schema.ts';
import { compareLists } from './session-list.ts';
import { readStatus } from './status.ts';
import { differ } from './variants.ts';

export interface Asked {
  credential: CredentialFact;
  access: Access;
  rpc: RpcFact;
  contract: ContractFact;
  sessionList?: SessionListFact | null;
}

export const statusProbe: HttpProbe = { id: 'status', path: '/api/status', public: true };

/** All of a dashboard: first its public status, bare; a credential goes out only when that has named a Hermes. */
export async function askDashboard(run: Run): Promise<Asked> {
  const status = await get(run, statusProbe);
  run.status = readStatus(status.fact.status, status.json, run.redact);
  if (run.status === null) {
    await lookElsewhere(run, status);
    return asked(run, await readContract(run, null));
  }
  const gated = run.status.authRequired === true;
  const page = get(run, { id: 'page', path: '/', public: true, cap: pageCap });
  const bare = Promise.all([
    page.then((got) => readAsset(run, got)),
    get(run, { id: 'health', path: '/api/health', public: true }),
    get(run, { id: 'sessions-bare', path: '/api/sessions?limit=1', list: 'sessions' }),
  ]);
  const { access, credential } = await accessTo(run, gated, page);
  const reads = readProtected(run, access);
  const routes = readRoutes(run, access, gated);
  const { main, rpc, contract, live, end } = await askGateway(run, access);
  const chat = (await page).fact.body?.page?.embeddedChat ?? null;
  await differ(run, access, main, { sessions: await reads.sessions, chat });
  await Promise.all([bare, reads.all, routes, gated && access.kind !== 'none' ? askMe(run, access) : null]);
  end();
  return { credential, access, rpc, contract, sessionList: compareLists(await reads.rows, live) };
}

export const asked = (run: Run, contract: ContractFact): Asked => ({
  credential: credentialFact(run),
  access: noAccess,
  rpc: skippedRpc('no Hermes dashboard answered'),
  contract,
});

/** Who a login made us; a token that is none is refused here, which is how it shows. */
async function askMe(run: Run, access: Access): Promise<void> {
  await get(run, { id: 'auth-me', path: '/api/auth/me', credential: access.kind, headers: access.headers() });
}
