import type { HttpFact, WsFact } from '../probe/exchange-schema.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import type { Reading } from './reading.ts';
import { acceptsPublicUrl } from './release-data.ts';
import { configLines } from './remedies/launch.ts';
import { proxyRemedies } from './remedies/proxy.ts';
import { sawHttp, sawWs } from './saw.ts';

/** Rows 7 and 24: the engine answers only to the names of its own address. `seen` is the refusal, `proof` what passed instead. */
export function hostRejected(
  reading: Reading,
  seen: HttpFact | WsFact,
  proof: HttpFact | WsFact | null = null,
): Draft {
  const url = reading.facts.service?.url ?? seen.url;
  const host = seen.hostHeader ?? /^[a-z]+:\/\/([^/?#]+)/i.exec(url)?.[1] ?? url;
  const publicUrl =
    reading.version !== null && acceptsPublicUrl(reading.version)
      ? [configLines(reading, 'config-public-url', ['dashboard:', `  public_url: ${url}`])]
      : [];
  const onlyWebSocket = !('method' in seen) && proof !== null;
  return draft('HOST_REJECTED', {
    args: {
      url,
      host,
      onlyWebSocket,
      bind: reading.process?.bind ?? null,
    },
    evidence: [seen, proof]
      .filter((each) => each !== null)
      .map((each) => ('method' in each ? sawHttp(each) : sawWs(each))),
    remedies: [...proxyRemedies(reading, onlyWebSocket ? 'host-ws' : 'host'), ...publicUrl],
  });
}
