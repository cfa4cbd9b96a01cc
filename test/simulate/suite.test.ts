import { describe, expect, test } from 'vitest';
import { expectedCell, expectedCells } from '../../src/live/expected.ts';
import { startSimulator } from '../../src/simulate/index.ts';
import { findRelease } from '../../src/simulate/release/table.ts';
import { document, runCli } from '../support/cli.ts';
import { gateShare } from '../support/full.ts';

// What the stand-in says in a turn and what it stores of it is what the real engine of that release does: the same table of cells holds
// for both. test/engines/turn.test.ts holds it against the real ones.

interface Turns {
  scenarios: { id: string; got: string }[];
}

/** Gated too, where the release has a login of its own. */
const cells = Object.keys(expectedCells).flatMap((version) =>
  [false, true]
    .filter((gated) => !gated || findRelease(version).gate !== null)
    .map((gated): { version: string; gated: boolean } => ({ version, gated })),
);

describe.concurrent('turn --suite full --scripted on the stand-in', () => {
  test.for(gateShare(cells, 8))(
    '$version, gated: $gated',
    { timeout: 120_000 },
    async ({ version, gated }, { onTestFinished }) => {
      const login = { username: 'someone', password: 'CANARY-suite-password-0123' };
      const simulator = await startSimulator({
        release: version,
        chat: true,
        webBuild: true,
        ...(gated && { gated: login, host: '127.0.0.2' }),
      });
      onTestFinished(simulator.close);
      const args = ['turn', simulator.url, '--suite', 'full', '--scripted', '--yes', '--json'];
      const result = await runCli(
        gated ? [...args, '--username', login.username, '--password-env', 'PASSWORD_OF_SUITE'] : args,
        {
          env: gated ? { PASSWORD_OF_SUITE: login.password } : { HERMES_COMPAT_TOKEN: simulator.token ?? '' },
          timeoutMs: 100_000,
        },
      );
      const { scenarios } = document<Turns>(result);
      const got = Object.fromEntries(scenarios.map((each) => [each.id, each.got]));
      const wanted = Object.fromEntries(
        Object.keys(expectedCells[version] ?? {}).map((id) => [id, expectedCell(version, id, false)]),
      );
      expect(got, result.stderr).toEqual(wanted);
      expect(result.code).toBe(0);
    },
  );
});
