import type { Messages } from './message.ts';
import { has, value } from './message.ts';

/** Why a dashboard does not start, and why something cannot be changed. */
export const launchMessages: Messages = {
  PORT_IN_USE: {
    says: (args) =>
      `Port ${value(args, 'port', '?')} is taken${has(args, 'holder') ? ` by ${value(args, 'holder', '')}` : ''}`,
    means: 'The dashboard cannot listen there.',
    seen: 'It ended with “address already in use” or BACKEND_PORT_IN_USE.',
    todo: 'Choose another --port, or let `hermes-compat launch` choose a free one.',
  },
  BIND_REFUSED: {
    says: (args) => bindRefusal(value(args, 'host', 'that address'), value(args, 'reason', 'guard')),
    means: 'Beyond loopback it wants a login provider; --insecure has no effect from 0.18 on.',
    seen: 'It ended with “Refusing to bind”.',
    todo: 'Set up the basic provider, or bind to 127.0.0.1 behind a proxy or an SSH tunnel.',
    now: (args) => (value(args, 'reason', 'guard') === 'guard' ? '' : 'Choose another --host or --port.'),
  },
  FLAG_UNSUPPORTED: {
    says: (args) => `This engine does not know the option ${value(args, 'flag', '')}`,
    means: 'Options came and went: --tui is refused by 0.16.0, --isolated by everything before 0.17.',
    seen: 'It ended with “unrecognized arguments”, exit 2.',
    todo: 'Leave the option out; `hermes-compat launch` uses settings that every release takes.',
  },
  HOME_UNREADABLE: {
    says: (args) =>
      has(args, 'missing')
        ? `The home ${value(args, 'path', '')} does not exist`
        : `The home ${value(args, 'path', '')} cannot be read by this account`,
    means: 'The engine ends or fails when it cannot read its home and .env.',
    seen: 'Permission denied on the folder or on .env.',
    todo: 'Use the account that owns it, or correct the owner of the folder.',
    now: (args) => (has(args, 'missing') ? 'Name a home that is there with --home.' : ''),
  },
  HOME_READ_ONLY: {
    says: (args) => `The home ${value(args, 'path', '')} cannot be written`,
    means: 'Up to 0.14 the engine does not start; newer ones start and fail at every session.',
    seen: 'The folder is on a read-only mount or not writable for this account.',
    todo: 'Make it writable, or name another home with --home.',
  },
  ENGINE_DIED: {
    says: (args) =>
      `The engine ended by itself${has(args, 'exit') ? ` (exit ${value(args, 'exit', '')})` : ''}${has(args, 'line') ? `: ${value(args, 'line', '')}` : ''}`,
    means: 'It stopped before its WebSocket opened; its last lines say why.',
    seen: 'The process that `launch` started is gone.',
    todo: 'Read the lines that it printed, and logs/errors.log in its home.',
  },
  NOT_WRITABLE: {
    says: (args) =>
      `${value(args, 'path', 'The place')} cannot be written by this account, so nothing can be changed here`,
    means:
      'A change needs write access to the folder, because files are replaced and never written in place.',
    seen: 'Access to the folder was tested; nothing was written.',
    todo: 'Run it as the account that owns the folder.',
  },
  NOT_OWNER: {
    says: (args) =>
      `${value(args, 'path', 'The file')} belongs to ${value(args, 'owner', 'another account')}, so it is not replaced`,
    means: 'Replacing it would change its owner.',
    seen: 'The owner of file and folder against this account.',
    todo: 'Run it as the owner, or over SSH with --become.',
  },
  SEALED_INSTALL: {
    says: (args) =>
      `The install ${value(args, 'path', '')} is sealed (${value(args, 'method', 'image or package manager')}), so its files are not edited`,
    means: 'Images, Nix packages and app bundles lose edits or refuse them.',
    seen: 'The install method and the place of the files.',
    todo: 'Use the overlay, which lies in HERMES_HOME, or build the change into the image.',
  },
  READ_ONLY_FS: {
    says: (args) => `${value(args, 'path', 'The place')} is on a read-only file system`,
    means: 'Nothing can be written there by anybody.',
    seen: 'The mount is read-only.',
    todo: 'Use the overlay in a writable HERMES_HOME, or mount it writable.',
  },
};

function bindRefusal(host: string, reason: string): string {
  switch (reason) {
    case 'permission':
      return `This account may not listen on that port of ${host}`;
    case 'no-such-address':
      return `${host} is no address of this machine`;
    case 'no-such-name':
      return 'The name given to --host has no address';
    default:
      return `The engine refuses to listen on ${host} without a login`;
  }
}
