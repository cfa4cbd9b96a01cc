import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Answer } from '../http/answer.ts';
import type { Request } from '../http/request.ts';

/** What a fault may use: the site that it is part of. */
export interface Site {
  /** Answers and upgrades so far. */
  answered: number;
  upgrades: number;
  /** What the engine accepts without a gate. */
  token: string;
  startedAt: number;
  /** Stops listening and drops every connection; `close` still works. */
  goAway: () => void;
  /** Ends with the stand-in, so that slow faults leave nothing behind. */
  signal: AbortSignal;
}

/**
 * One way to be broken. Hooks are asked in this order: the connection, what the engine sees, the request or upgrade, the answer, the
 * socket, each frame. A hook that is absent changes nothing.
 */
export interface Fault {
  name: string;
  says: string;
  /** Takes the connection before HTTP is read. */
  connection?: (socket: Socket, site: Site) => void;
  /** Upgrades arrive as plain HTTP requests. */
  dropsUpgrade?: boolean;
  /** What reaches the engine. */
  see?: (request: Request, upgrade: boolean, site: Site) => Request;
  /** Milliseconds until anything is answered. */
  delay?: (site: Site) => number;
  /** Answers instead of the engine, at once or later; false lets the request through. */
  request?: (message: IncomingMessage, response: ServerResponse, site: Site) => boolean;
  /** Takes an upgrade instead of the engine; false lets it through. */
  upgrade?: (message: IncomingMessage, socket: Socket, site: Site) => boolean;
  /** Changes the engine's answer. */
  answer?: (answer: Answer, request: Request, site: Site) => Answer;
  /** Is given each open WebSocket. */
  socket?: (socket: WebSocket, site: Site) => void;
  /** Changes a frame of the engine; text goes out as it is, null is not sent. */
  frame?: (frame: Record<string, unknown>) => Record<string, unknown> | string | Buffer | null;
}

export const page = (title: string, body = ''): string =>
  `<html><head><title>${title}</title></head><body><center><h1>${title}</h1></center>${body}</body></html>\n`;

/** An answer of something in front of the engine. */
export const edge = (
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): true => {
  const bytes = Buffer.from(body);
  const type = body === '' ? {} : { 'content-type': 'text/html' };
  response.writeHead(status, { server: 'nginx/1.22.1', ...type, 'content-length': bytes.length, ...headers });
  response.end(bytes);
  return true;
};

/** The same on the raw socket of an upgrade. */
export const edgeUpgrade = (
  socket: Socket,
  status: string,
  body: string,
  headers: Record<string, string> = {},
): true => {
  const all: Record<string, string> = {
    Server: 'nginx/1.22.1',
    Date: new Date().toUTCString(),
    'Content-Type': 'text/html',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  return true;
};
