import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runHook } from '../../src/lifecycle/hook-run.ts';
import { installHook } from '../../src/lifecycle/hooks/install.ts';
import { change } from '../../src/patch/change.ts';
import { engineDir, requireEngines, startEngine } from '../support/engines.ts';
import { hookRunOf, openTree } from '../support/lifecycle.ts';
import { agree } from '../support/patch-scene.ts';

const ready = await requireEngines('0.14.0');

test.skipIf(!ready)(
  'a dashboard notes its start once the hook is there, and not before',
  { timeout: 240_000 },
  async () => {
    const home = await realpath(await mkdtemp(join(tmpdir(), 'hermes-hook-')));
    const due = join(home, 'desktop-compat/hooks/due');
    try {
      const { session } = await openTree({ install: engineDir('0.14.0'), home });
      await change(session, agree({ carrier: 'overlay' }));
      await (await startEngine({ version: '0.14.0', home })).stop();
      expect(existsSync(due)).toBe(false);
      const { home: facts, install } = session.scene;
      const place = {
        host: session.host,
        home: facts,
        install,
        command: ['true'],
        userHome: home,
        onPath: null,
      };
      expect(await installHook(place, 'overlay', new Date().toISOString())).toBe('installed');
      expect((await runHook(hookRunOf(home))).outcome).toBe('checked');
      const engine = await startEngine({ version: '0.14.0', home });
      await engine.stop();
      expect(JSON.parse(await readFile(due, 'utf8'))).toMatchObject({ pid: engine.pid });
      // What was noted is acted on once, by whichever hook runs next.
      const acted = await runHook(hookRunOf(home));
      expect(acted).toMatchObject({ outcome: 'checked', changed: [due] });
      expect((await runHook(hookRunOf(home))).outcome).toBe('unchanged');
    } finally {
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);
