import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProvider } from '../../src/simulate/index.ts';
import { document, runCli } from '../support/cli.ts';
import { requireEngines } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { isFull } from '../support/full.ts';

// `turn --mode legacy --suite full` over the API servers of real gateways: what such a client sees, and what it cannot.

const versions = ['0.14.0', '0.16.0', '0.19.0', '0.21.4.post1', '0.22.2.post1'];
const ready = isFull && (await requireEngines(...versions));

/** What differs between them: a failed turn, a limit, and what the rows hold that the stream does not. */
const same = {
  plain: 'completed',
  reasoning: 'completed',
  tools: 'completed',
  'parallel-tools': 'completed',
  restored: 'completed, completed',
};
const noReasoning = {
  reasoning: 'completed · 0 reasoning-differs',
  tools: 'completed · 0 reasoning-differs',
};
const cells: Record<string, Record<string, string>> = {
  '0.14.0': {
    ...same,
    'fail-then-success': 'no_response, completed · error-not-shown',
    interrupt: 'cancelled, completed',
    'tool-limit': 'no_response · tool_limit_reached-not-shown',
    empty: 'no_response',
  },
  '0.16.0': {
    ...same,
    ...noReasoning,
    'fail-then-success': 'no_response, completed · 1 missing-user · error-not-shown',
    interrupt: 'cancelled, completed · 0 missing-assistant, 1 missing-user',
    'tool-limit': 'no_response · 0 extra-assistant-row, 0 extra-control-row · tool_limit_reached-not-shown',
    empty: 'no_response',
  },
  '0.19.0': {
    ...same,
    ...noReasoning,
    'fail-then-success': 'error, completed',
    interrupt: 'cancelled, completed · 0 live-incomplete',
    'tool-limit': 'no_response · 0 extra-assistant-row, 0 extra-control-row · tool_limit_reached-not-shown',
    empty: 'no_response · 0 extra-assistant-row',
  },
  '0.21.4.post1': {
    ...same,
    'fail-then-success': 'error, completed · 0 extra-assistant-row',
    interrupt: 'cancelled, completed · 0 live-incomplete',
    'tool-limit': 'tool_limit_reached · 0 extra-assistant-row, 0 extra-control-row',
    empty: 'no_response · 0 extra-assistant-row',
  },
  // Its words about a failure are streamed as the answer; another sentence is stored.
  '0.22.2.post1': {
    ...same,
    'fail-then-success': 'error, completed · 0 extra-assistant-row, 0 missing-assistant',
    interrupt: 'cancelled, completed · 0 live-incomplete',
    'tool-limit': 'tool_limit_reached · 0 extra-control-row',
    empty: 'no_response · 0 extra-assistant-row, 0 missing-assistant',
  },
};

interface Turns {
  kind: 'turns';
  scenarios: { id: string; status: string; got: string | null; why: string | null }[];
  notes: string[];
  exitCode: number;
}

describe.skipIf(!ready)('turn --mode legacy', { timeout: 500_000 }, () => {
  it.each(versions)('%s', async (version) => {
    const folder = await mkdtemp(join(tmpdir(), 'turn-legacy-'));
    const provider = await startProvider();
    const key = 'CANARY-key-of-the-gateway-0123';
    await mkdir(join(folder, '.hermes'));
    await writeFile(
      join(folder, '.hermes', 'config.yaml'),
      `model: {default: scripted-1, provider: custom, base_url: "${provider.url}", api_key: sk-scripted, context_length: 64000}
agent: {max_turns: 8, api_max_retries: 2, auto_recovery_cycles: 1}
approvals: {mode: "off"}
`,
    );
    const gateway = await startGateway(version, folder, key);
    try {
      const args = ['turn', gateway.url, '--mode', 'legacy', '--token-env', 'KEY', '--suite', 'full'];
      const env = { KEY: key };
      const unscripted = await runCli([...args, '--yes'], { env });
      expect(unscripted).toMatchObject({ code: 2, stderr: expect.stringContaining('--scripted') });
      const result = await runCli([...args, '--scripted', '--yes', '--json'], { env, timeoutMs: 450_000 });
      expect(result.stdout + result.stderr).not.toContain('CANARY');
      const turns = document<Turns>(result);
      const got = Object.fromEntries(
        turns.scenarios.filter(({ status }) => status !== 'skip').map(({ id, got, why }) => [id, got ?? why]),
      );
      expect(got).toEqual(cells[version]);
      expect(turns.exitCode).toBe(0);
      expect(provider.wasSent('Incorrect API key')).toBe(false);
      const rows = await fetch(`${gateway.url}/api/sessions`, {
        headers: { Authorization: `Bearer ${key}` },
      });
      // 0.14 has no sessions there, and says that the one it made stays.
      if (version === '0.14.0') expect(turns.notes.join()).toContain('stays');
      else expect(await rows.json()).toMatchObject({ data: [] });
    } finally {
      await gateway.stop();
      await provider.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});
