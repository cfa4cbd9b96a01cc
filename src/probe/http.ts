import { type Body, readBody, unread } from './body.ts';
import { type Answer, exchange } from './exchange.ts';
import { headerFacts, type HeaderList } from './headers.ts';
import { networkError } from './network-error.ts';
import { noPhases, originOf, pathOf, type Run, urlOf } from './run.ts';
import type { HttpFact } from './exchange-schema.ts';
import { isStatus } from './status.ts';

const bodyCap = 4 * 1024 * 1024;
export const pageCap = 16 * 1024 * 1024;

/** One HTTP probe. */
export interface HttpProbe {
  id: string;
  /** Below the base URL; with `absolute`, below the origin. */
  path: string;
  absolute?: boolean;
  method?: 'GET' | 'POST';
  credential?: HttpFact['credential'];
  headers?: Record<string, string>;
  body?: string;
  /** Another Host than the URL's. */
  host?: string;
  /** Answers of public paths show their beginning; of protected ones only errors do. */
  public?: boolean;
  /** Key of the list that the endpoint is about. */
  list?: string;
  cap?: number;
  enough?: number;
}

/** What a probe may go on with; `fact` already stands in the run. */
export interface Got {
  fact: HttpFact;
  headers: HeaderList;
  json: unknown;
  text: string | null;
}

/** Asks and notes the fact. Never rejects. */
export async function get(run: Run, probe: HttpProbe): Promise<Got> {
  const answer = await exchange(run, {
    method: probe.method ?? 'GET',
    path: probe.absolute === true ? probe.path : pathOf(run, probe.path),
    headers: { ...(probe.host === undefined ? {} : { Host: probe.host }), ...probe.headers },
    body: probe.body,
    cap: probe.cap ?? bodyCap,
    enough: probe.enough,
  });
  const body = answer.body === null ? null : await bodyOf(run, probe, answer);
  const fact: HttpFact = {
    ...blank(run, probe),
    outcome: answer.status === null ? 'failed' : 'answered',
    status: answer.status,
    headers: answer.status === null ? null : headerFacts(answer.headers, run.redact),
    body: body?.fact ?? null,
    error: answer.error === null ? null : networkError(answer.error, answer.phase, run.redact),
    phases: answer.phases,
  };
  run.http.push(fact);
  return { fact, headers: answer.headers, json: body?.json, text: body?.text ?? null };
}

async function bodyOf(run: Run, probe: HttpProbe, answer: Answer): Promise<Body | null> {
  if (answer.body === null) return null;
  if (answer.body.end === 'stopped')
    return {
      fact: { ...unread(answer.body.contentType, run.redact), bytes: answer.body.size },
      json: undefined,
      text: null,
    };
  const detail = probe.public === true || (answer.status ?? 0) >= 400;
  const body = await readBody(answer.body, {
    detail,
    list: probe.list,
    cap: probe.cap ?? bodyCap,
    redact: run.redact,
  });
  if (isStatus(body.json)) body.fact.detail = null;
  return body;
}

/** A probe that did not run is a fact too. */
export function skip(
  run: Run,
  probe: Pick<HttpProbe, 'id' | 'path' | 'method' | 'credential'>,
  why: string,
): void {
  run.http.push({ ...blank(run, probe), outcome: 'skipped', why });
}

const blank = (
  run: Run,
  probe: Pick<HttpProbe, 'id' | 'path' | 'absolute' | 'method' | 'credential' | 'host'>,
): HttpFact => ({
  id: probe.id,
  method: probe.method ?? 'GET',
  url: run.redact.url(probe.absolute === true ? `${originOf(run)}${probe.path}` : urlOf(run, probe.path)),
  credential: probe.credential ?? 'none',
  hostHeader: probe.host ?? null,
  outcome: 'skipped',
  why: null,
  status: null,
  headers: null,
  body: null,
  error: null,
  phases: noPhases(),
});
