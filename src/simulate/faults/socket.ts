import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Fault, Site } from './fault.ts';

/** WebSockets that open wrongly, or say wrong things. */

const handshake = (message: IncomingMessage, more: string[] = [], accept?: string): string => {
  const key = `${message.headers['sec-websocket-key'] ?? ''}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const right = createHash('sha1').update(key).digest('base64');
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  return [...lines, `Sec-WebSocket-Accept: ${accept ?? right}`, ...more, 'server: uvicorn', '', ''].join(
    '\r\n',
  );
};

/** One text frame of 100 MB, sent as fast as it is taken. */
const sendHugeFrame = (socket: Socket, site: Site): void => {
  const size = 100 * 1024 * 1024;
  const header = Buffer.alloc(10);
  header.writeUInt8(0x81, 0);
  header.writeUInt8(127, 1);
  header.writeBigUInt64BE(BigInt(size), 2);
  socket.write(header);
  const chunk = Buffer.alloc(64 * 1024, ' ');
  let left = size;
  const more = (): void => {
    while (left > 0 && !site.signal.aborted && !socket.destroyed) {
      left -= chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on('drain', more);
  more();
};

const params = (frame: Record<string, unknown>): Record<string, unknown> =>
  typeof frame['params'] === 'object' && frame['params'] !== null
    ? (frame['params'] as Record<string, unknown>)
    : {};
const isReady = (frame: Record<string, unknown>): boolean => params(frame)['type'] === 'gateway.ready';
const isReply = (frame: Record<string, unknown>): boolean => 'id' in frame && frame['method'] === undefined;

export const socketFaults: readonly Fault[] = [
  {
    name: 'bad-accept',
    says: '101 with a wrong accept key',
    upgrade: (message, socket) => {
      socket.write(handshake(message, [], 'AAAAAAAAAAAAAAAAAAAAAAAAAAA='));
      return true;
    },
  },
  {
    name: 'bad-protocol',
    says: '101 with a subprotocol that nobody offered',
    upgrade: (message, socket) => {
      socket.write(handshake(message, ['Sec-WebSocket-Protocol: chat']));
      return true;
    },
  },
  {
    name: 'silent-after-101',
    says: 'opens, then neither speaks nor answers',
    upgrade: (message, socket) => {
      socket.write(handshake(message));
      socket.resume();
      return true;
    },
  },
  {
    name: 'close-early',
    says: 'opens and closes at once',
    upgrade: (message, socket) => {
      // An empty close frame.
      socket.end(Buffer.concat([Buffer.from(handshake(message)), Buffer.from([0x88, 0x00])]));
      return true;
    },
  },
  {
    name: 'cut-early',
    says: 'opens, and the connection ends without a close frame',
    upgrade: (message, socket) => {
      socket.write(handshake(message), () => socket.destroy());
      return true;
    },
  },
  {
    name: 'huge-frame',
    says: 'the first frame is 100 MB long',
    upgrade: (message, socket, site) => {
      socket.write(handshake(message));
      socket.resume();
      sendHugeFrame(socket, site);
      return true;
    },
  },
  {
    name: 'no-ready',
    says: 'no gateway.ready, but calls are answered',
    frame: (frame) => (isReady(frame) ? null : frame),
  },
  {
    name: 'ready-not-json',
    says: 'the first frame is not JSON',
    frame: (frame) => (isReady(frame) ? 'hello' : frame),
  },
  {
    name: 'binary-frames',
    says: 'frames come as bytes that are not UTF-8',
    frame: () => Buffer.from([0xff, 0xfe, 0x00]),
  },
  {
    name: 'rpc-silent',
    says: 'gateway.ready comes, calls are not answered',
    frame: (frame) => (isReply(frame) ? null : frame),
  },
  {
    name: 'rpc-error',
    says: 'every call fails inside the engine',
    frame: (frame) =>
      isReply(frame)
        ? { jsonrpc: '2.0', id: frame['id'], error: { code: -32603, message: 'internal error' } }
        : frame,
  },
  {
    name: 'foreign-frames',
    says: 'frames of another protocol',
    frame: ({ id }) => ({ type: 'pong', at: id }),
  },
];
