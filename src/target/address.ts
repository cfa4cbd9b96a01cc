import type { Target } from './types.ts';

/** A target as it is typed, whatever it is called in a targets file. */
export function addressOf(target: Target): string {
  switch (target.kind) {
    case 'local':
      return target.path === null ? 'local' : `local:${target.path}`;
    case 'http':
      return target.url;
    case 'ssh': {
      const { user, address, port, path } = target;
      const host = address.includes(':') ? `[${address}]` : address;
      return `ssh://${user === null ? '' : `${user}@`}${host}${port === null ? '' : `:${port}`}${path ?? ''}`;
    }
    default: {
      const never: never = target;
      return never;
    }
  }
}
