import type { Fault, Site } from './fault.ts';

/** Engines that answer late, seldom or not at all. */

/** By what was asked and not by a clock: a client may ask everything within milliseconds. */
const goneAfterThree = (site: Site): boolean => {
  if (site.answered < 3) return false;
  site.goAway();
  return true;
};

export const timeFaults: readonly Fault[] = [
  {
    name: 'silent',
    says: 'accepts connections and stays silent',
    connection: (socket) => {
      socket.resume();
    },
  },
  {
    name: 'reset',
    says: 'resets every connection',
    connection: (socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    },
  },
  {
    name: 'silent-upgrade',
    says: 'never answers an upgrade',
    upgrade: () => true,
  },
  {
    name: 'slow-start',
    says: 'alive, but answers nothing in the first eleven seconds',
    delay: (site) => Math.max(0, site.startedAt + 11_000 - Date.now()),
  },
  {
    name: 'flapping',
    says: 'goes away after three answers',
    request: (_message, _response, site) => goneAfterThree(site),
    upgrade: (_message, _socket, site) => goneAfterThree(site),
  },
  {
    name: 'engine-error',
    says: 'status fails with 500',
    answer: (answer, request) =>
      request.path === '/api/status'
        ? { ...answer, status: 500, type: 'text/plain; charset=utf-8', body: 'Internal Server Error' }
        : answer,
  },
  {
    name: 'idle-cut',
    says: 'a proxy that cuts a WebSocket after three seconds without traffic',
    socket: (socket) => {
      let timer = setTimeout(() => socket.terminate(), 3000);
      const again = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => socket.terminate(), 3000);
      };
      socket
        .on('message', again)
        .on('ping', again)
        .on('close', () => clearTimeout(timer));
    },
  },
];
