import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createRawServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { Fault, Site } from './faults/fault.ts';
import { findFault } from './faults/list.ts';
import { send } from './http/answer.ts';
import { dispatch } from './http/dispatch.ts';
import { readRequest } from './http/request.ts';
import type { Request } from './http/request.ts';
import type { Simulator, SimulatorOptions } from './options.ts';
import { createPlayer } from './play/player.ts';
import { parseRecording } from './play/recording.ts';
import { since } from './release/since.ts';
import { createHub, detach } from './socket/hub.ts';
import type { Connection, Hub } from './socket/hub.ts';
import { consoleReady, gatewayReady } from './socket/ready.ts';
import { receive } from './socket/rpc.ts';
import { judgeUpgrade, plainRefusal } from './socket/upgrade.ts';
import { createWorld } from './world.ts';
import type { World } from './world.ts';

interface Running {
  world: World;
  hub: Hub;
  faults: readonly Fault[];
  site: Site;
  sockets: WebSocketServer;
}

const maxRequest = 16 * 1024 * 1024;

const readBody = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxRequest) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const seen = (running: Running, request: Request, upgrade: boolean): Request =>
  running.faults.reduce((view, fault) => fault.see?.(view, upgrade, running.site) ?? view, request);

/** What a stripping proxy says to a path that is not below its prefix. */
const outsidePrefix = ({ world }: Running, message: IncomingMessage): boolean => {
  const path = (message.url ?? '/').split('?')[0] ?? '/';
  return world.prefix !== '' && path !== world.prefix && !path.startsWith(`${world.prefix}/`);
};

const answer = async (running: Running, message: IncomingMessage, response: ServerResponse) => {
  const { world, faults, site } = running;
  const path = (message.url ?? '/').split('?')[0] ?? '/';
  world.note(`${message.method ?? 'GET'} ${path}`);
  const late = Math.max(0, ...faults.map((fault) => fault.delay?.(site) ?? 0));
  if (late > 0) await pause(late, undefined, { signal: site.signal });
  if (faults.some((fault) => fault.request?.(message, response, site) === true)) return;
  if (outsidePrefix(running, message)) {
    findFault('wrong-path').request?.(message, response, site);
    return;
  }
  const body = await readBody(message);
  const request = seen(running, readRequest(world, message, body), false);
  site.answered += 1;
  const given = dispatch(world, request);
  const changed = faults.reduce((value, fault) => fault.answer?.(value, request, site) ?? value, given);
  send(message, response, changed);
};

const frameWriter =
  ({ faults }: Running, socket: WebSocket) =>
  (frame: unknown): void => {
    let out: unknown = frame;
    for (const fault of faults)
      if (typeof out === 'object' && out !== null && !Buffer.isBuffer(out) && fault.frame !== undefined)
        out = fault.frame(out as Record<string, unknown>);
    if (out === null || socket.readyState !== socket.OPEN) return;
    if (typeof out === 'string' || Buffer.isBuffer(out)) socket.send(out);
    else socket.send(JSON.stringify(out));
  };

/** Pings as the engine's server does, so that idle clients are kept or not kept as with a real one. */
const keepAlive = ({ world }: Running, socket: WebSocket): void => {
  if (world.release.pings === 'beyond-loopback' && world.loopback) return;
  const timer = setInterval(() => socket.ping(), 20_000);
  socket.on('close', () => clearInterval(timer));
};

/** No close frame, but what was sent before still arrives; compression makes it wait. */
const endWhenSent = (socket: WebSocket, stream: Socket): void => {
  if (socket.bufferedAmount === 0) stream.end();
  else setTimeout(() => endWhenSent(socket, stream), 5);
};

const serveGateway = (running: Running, socket: WebSocket, stream: Socket): void => {
  const { hub, world } = running;
  const connection: Connection = {
    send: frameWriter(running, socket),
    cut: () => endWhenSent(socket, stream),
    answersRequests: false,
    waiting: new Map(),
  };
  hub.connections.add(connection);
  socket.on('close', () => {
    detach(hub, connection);
    hub.player?.disconnect(connection);
  });
  socket.on('message', (data, binary) => {
    // The engine reads text only; bytes end its handler.
    if (binary) socket.close(1000);
    else receive(hub, connection, Buffer.from(data as Buffer).toString('utf8'));
  });
  if (hub.player === null) connection.send(gatewayReady(world));
  else hub.player.connect(connection);
};

const opened = (running: Running, socket: WebSocket, stream: Socket, path: string): void => {
  socket.on('error', () => socket.terminate());
  for (const fault of running.faults) fault.socket?.(socket, running.site);
  keepAlive(running, socket);
  if (path === '/api/ws') serveGateway(running, socket, stream);
  else if (path === '/api/console') frameWriter(running, socket)(consoleReady(running.world));
};

const upgrade = (running: Running, message: IncomingMessage, socket: Socket, head: Buffer): void => {
  const { world, faults, site, sockets } = running;
  socket.on('error', () => socket.destroy());
  world.note(`UPGRADE ${(message.url ?? '/').split('?')[0] ?? '/'}`);
  site.upgrades += 1;
  if (faults.some((fault) => fault.upgrade?.(message, socket, site) === true)) return;
  const request = seen(running, readRequest(world, message, Buffer.alloc(0)), true);
  const judged = judgeUpgrade(world, message, request);
  if (judged.kind === 'malformed') socket.end(plainRefusal('400 Bad Request', judged.text));
  else if (judged.kind === 'refuse') socket.end(plainRefusal('403 Forbidden', ''));
  else {
    protocols.set(message, judged.protocol);
    sockets.handleUpgrade(message, socket, head, (open) => opened(running, open, socket, request.path));
  }
};

/** Which subprotocol to name in the answer to an accepted upgrade. */
const protocols = new WeakMap<IncomingMessage, string | null>();

const socketServer = (world: World): WebSocketServer => {
  const maxPayload = (since(world.release, '0.20.0') ? 384 : 16) * 1024 * 1024;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload,
    perMessageDeflate: { serverMaxWindowBits: 12, clientMaxWindowBits: 12 },
    handleProtocols: (_, message) => protocols.get(message) ?? false,
  });
  server.on('headers', (headers) => {
    headers.push(`date: ${new Date().toUTCString()}`, 'server: uvicorn');
  });
  return server;
};

const listen = (server: Server, world: World): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(world.port, world.host, () => {
      server.off('error', reject);
      world.port = (server.address() as AddressInfo).port;
      resolve();
    });
  });

const serve = (running: Running): Server => {
  const { faults, site } = running;
  const raw = faults.find((fault) => fault.connection !== undefined);
  if (raw !== undefined)
    return createRawServer((socket) => {
      socket.on('error', () => socket.destroy());
      raw.connection?.(socket, site);
    });
  const server = createHttpServer(
    { keepAliveTimeout: 5000, requireHostHeader: false },
    (message, response) => {
      answer(running, message, response).catch(() => response.destroy());
    },
  );
  // Without a listener Node hands upgrades over as ordinary requests: what an engine gets behind such a proxy.
  if (!faults.some((fault) => fault.dropsUpgrade === true))
    server.on('upgrade', (message, socket, head) => upgrade(running, message, socket as Socket, head));
  return server;
};

/**
 * Starts a stand-in dashboard on a port of its own. Its answers are those of the release, with the faults that were asked for.
 * @throws CompatError usage when the release or a fault is unknown; the platform's error when the port is taken
 */
export const startSimulator = async (options: SimulatorOptions): Promise<Simulator> => {
  const world = createWorld(options);
  const stop = new AbortController();
  const connections = new Set<Socket>();
  const { token } = world;
  const site: Site = {
    answered: 0,
    upgrades: 0,
    token,
    startedAt: Date.now(),
    goAway: () => {},
    signal: stop.signal,
  };
  const faults = (options.faults ?? []).map(findFault);
  const hub = createHub(world);
  if (options.play !== undefined) hub.player = createPlayer(parseRecording(options.play), options.pace ?? 0);
  const running: Running = { world, hub, faults, site, sockets: socketServer(world) };
  const server = serve(running);
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  await listen(server, world);
  const drop = (): void => {
    server.close();
    for (const socket of connections) socket.destroy();
  };
  site.goAway = drop;
  const host = world.host.includes(':') ? `[${world.host}]` : world.host;
  return {
    url: `http://${host}:${world.port}${world.prefix}`,
    port: world.port,
    token: world.gate === null ? world.token : null,
    login: world.gate === null ? null : { username: world.gate.username, password: world.gate.password },
    log: world.log,
    frames: world.frames,
    close: async () => {
      stop.abort();
      hub.player?.stop();
      for (const session of world.sessions) session.turn?.stop.abort();
      drop();
      await new Promise<void>((resolve) => running.sockets.close(() => resolve()));
    },
  };
};
