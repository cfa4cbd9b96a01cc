// A test of a client against dashboards that are broken as in the field. The client here is a few lines; put yours in their place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faults, startSimulator } from 'hermes-compat/simulate';

/** What a client says to its user when it cannot list the sessions. */
async function trouble(url: string, token: string | null): Promise<string> {
  const answer = await fetch(`${url}/api/sessions?limit=1`, {
    headers: token === null ? {} : { 'x-hermes-session-token': token },
  });
  if (answer.status === 401) return 'log in again';
  if (!(answer.headers.get('content-type') ?? '').includes('json')) return 'this is not a dashboard';
  return answer.ok ? 'none' : `error ${answer.status}`;
}

await test('a whole dashboard', async () => {
  const engine = await startSimulator({ release: '0.19.0' });
  try {
    assert.equal(await trouble(engine.url, engine.token), 'none');
    assert.equal(await trouble(engine.url, 'wrong'), 'log in again');
    assert.ok(engine.log.some((line) => line.startsWith('GET /api/sessions')));
  } finally {
    await engine.close();
  }
});

const broken = {
  'login-page': 'this is not a dashboard',
  'edge-401': 'log in again',
  unavailable: 'this is not a dashboard',
  'engine-error': 'none',
};

for (const [name, said] of Object.entries(broken))
  await test(faults.find((fault) => fault.name === name)?.says ?? name, async () => {
    const engine = await startSimulator({ release: '0.22.2', faults: [name] });
    try {
      assert.equal(await trouble(engine.url, engine.token), said);
    } finally {
      await engine.close();
    }
  });
