import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { localHost } from '../../src/host/local.ts';
import { hostContract } from './contract.ts';

hostContract('this machine', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hc-local-'));
  const host = localHost({ path: process.env['PATH'] ?? '', home: dir, platform: process.platform });
  const end = async (): Promise<void> => {
    await host.close();
    await rm(dir, { recursive: true, maxRetries: 5 });
  };
  return { host, dir, end };
});
