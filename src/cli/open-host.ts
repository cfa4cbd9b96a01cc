import { CompatError } from '../errors.ts';
import { localHost } from '../host/local.ts';
import type { Host } from '../host/types.ts';
import type { Target } from '../target/types.ts';
import type { Io } from './io.ts';
import type { RawOptions } from './request.ts';

/** Opens the machine of a local or ssh target. */
export function openHostFor(_options: RawOptions, io: Io): (target: Target) => Promise<Host> {
  return async (target) => {
    if (io.platform === 'win32') {
      throw new CompatError(
        'usage',
        'local and ssh targets are not supported on Windows; http(s):// targets work here',
      );
    }
    if (target.kind === 'ssh') throw new CompatError('usage', 'ssh targets are not built in yet');
    return localHost({
      path: io.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
      home: io.home,
      platform: io.platform,
    });
  };
}
