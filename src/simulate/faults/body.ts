import { gzipSync } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../http/answer.ts';
import type { Request } from '../http/request.ts';
import type { Fault, Site } from './fault.ts';

/** Bodies that a reader must survive. All but the slow ones stand at `/api/status`. */

const onStatus =
  (change: (answer: Answer) => Answer) =>
  (answer: Answer, request: Request): Answer =>
    request.path === '/api/status' ? change(answer) : answer;

const isStatus = (message: IncomingMessage): boolean => /^[^?]*\/api\/status(\?|$)/.test(message.url ?? '');

const jsonHead = (response: ServerResponse, headers: Record<string, string>): void => {
  response.writeHead(200, { server: 'uvicorn', 'content-type': 'application/json', ...headers });
};

/** 4 GiB of blanks: one member of 10 MiB, four hundred times. */
const bomb = (): Buffer => {
  const member = gzipSync(Buffer.alloc(10 * 1024 * 1024, ' '));
  return Buffer.concat(Array.from({ length: 400 }, () => member));
};

const endless = (response: ServerResponse, site: Site): void => {
  jsonHead(response, {});
  const chunk = Buffer.alloc(64 * 1024, ' ');
  const more = (): void => {
    while (!site.signal.aborted && !response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
};

export const bodyFaults: readonly Fault[] = [
  {
    name: 'not-json',
    says: 'status is declared as JSON and is not',
    answer: onStatus((answer) => ({ ...answer, body: '{"version": "0.19.0", oops' })),
  },
  {
    name: 'json-list',
    says: 'status is a list',
    answer: onStatus((answer) => ({ ...answer, body: '["0.19.0"]' })),
  },
  {
    name: 'deep-json',
    says: 'status is nested 100,000 times',
    answer: onStatus((answer) => ({ ...answer, body: '['.repeat(100_000) + ']'.repeat(100_000) })),
  },
  {
    name: 'invalid-utf8',
    says: 'status holds bytes that are not UTF-8',
    answer: onStatus((answer) => ({
      ...answer,
      body: Buffer.concat([
        Buffer.from('{"version":"0.19.0","x":"'),
        Buffer.from([0xff, 0xfe, 0xc3]),
        Buffer.from('"}'),
      ]),
    })),
  },
  {
    name: 'gzip-bomb',
    says: 'status grows to 4 GiB when it is unpacked',
    answer: onStatus((answer) => ({
      ...answer,
      body: bomb(),
      headers: { ...answer.headers, 'content-encoding': 'gzip' },
    })),
  },
  {
    name: 'huge-body',
    says: 'status says that it is 5 GB long, and sends them',
    request: (message, response, site) => {
      if (!isStatus(message)) return false;
      response.setHeader('content-length', 5_000_000_000);
      endless(response, site);
      return true;
    },
  },
  {
    name: 'endless-body',
    says: 'status never ends',
    request: (message, response, site) => {
      if (!isStatus(message)) return false;
      endless(response, site);
      return true;
    },
  },
  {
    name: 'close-mid-answer',
    says: 'the connection ends in the middle of status',
    request: (message, response) => {
      if (!isStatus(message)) return false;
      jsonHead(response, { 'content-length': '500' });
      response.write('{"version":"0.1', () => response.destroy());
      return true;
    },
  },
  {
    name: 'stalled-body',
    says: 'status stops in the middle and stays open',
    request: (message, response) => {
      if (!isStatus(message)) return false;
      jsonHead(response, { 'content-length': '500' });
      response.write('{"version":"0.1');
      return true;
    },
  },
];
