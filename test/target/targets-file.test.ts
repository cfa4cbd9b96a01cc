import { describe, expect, it } from 'vitest';
import { parseTargetsFile } from '../../src/target/targets-file.ts';

const read = (text: string) =>
  parseTargetsFile(text, 'fleet.yaml', (path) => (path.startsWith('/') ? path : `/fleet/${path}`));

describe('targets file', () => {
  it('applies defaults and resolves paths beside the file', async () => {
    const plan = await read(`
defaults: { client: minimal, tokenFile: secrets/t, require: [sessions] }
parallel: 4
targets:
  - name: a
    address: http://127.0.0.1:9119
  - { name: b, address: "ssh://me@box", client: hermes-one, username: u, passwordEnv: P, require: [model-set], timeoutMs: 5000 }
`);
    expect(plan.parallel).toBe(4);
    expect(plan.targets).toMatchObject([
      {
        name: 'a',
        client: 'minimal',
        secrets: { tokenFile: '/fleet/secrets/t' },
        require: ['sessions'],
        target: { kind: 'http', name: 'a' },
      },
      {
        name: 'b',
        client: 'hermes-one',
        secrets: { username: 'u', passwordEnv: 'P' },
        require: ['sessions', 'model-set'],
        timeoutMs: 5000,
      },
    ]);
    expect(plan.targets[1]?.secrets).not.toHaveProperty('tokenFile');
  });

  it('reads JSON', async () => {
    const plan = await read('{"targets":[{"name":"a","address":"local","client":"minimal"}]}');
    expect(plan.targets).toHaveLength(1);
  });

  it.each([
    ['targets:\n  - name: a\n    adress: local\n    client: x\n', 'fleet.yaml:3:5'],
    ['targets:\n  - name: a\n    address: local\n', 'fleet.yaml:2:11'],
    [
      'targets:\n  - {name: a, address: local, client: x}\n  - {name: a, address: local, client: x}\n',
      'fleet.yaml:3:12',
    ],
    ['targets: []\n', 'fleet.yaml:1:10'],
    ['targets:\n  - {name: a, address: "-oX", client: x}\n', 'fleet.yaml:2:24'],
    ['targets: [\n', 'fleet.yaml:'],
    ['a: &a [x]\nb: [*a]\n', 'fleet.yaml:1:1'],
    ['targets:\n  - {name: a, address: local, client: x, tokenEnv: A, tokenFile: B}\n', 'fleet.yaml:2:66'],
    ['targets:\n  - {name: a, address: local, client: x, tokenCommand: id}\n', 'fleet.yaml:2:42'],
    ['', 'fleet.yaml:1:1'],
  ])('%j names the place', async (text, place) => {
    await expect(read(text)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(place),
    });
  });

  it('refuses an address with a password and does not repeat it', async () => {
    const text = 'targets:\n  - {name: a, address: "http://me:S3cret@h", client: x}\n';
    await expect(read(text)).rejects.toSatisfy(
      (error: Error) => !`${error.message}${JSON.stringify(error)}`.includes('S3cret'),
    );
  });

  it('refuses a YAML bomb quickly', async () => {
    const levels = Array.from(
      { length: 30 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array(10).fill(`*l${i}`).join(',')}]`,
    );
    await expect(read(`l0: &l0 [x]\n${levels.join('\n')}\ntargets: *l30\n`)).rejects.toMatchObject({
      kind: 'usage',
    });
  });

  it('takes one alias for many targets, and says what is nested too deeply', async () => {
    const rows = Array.from(
      { length: 500 },
      (_, i) => `  - {name: t${i}, address: local, tokenEnv: *token, require: *needs}\n`,
    );
    const head =
      'defaults: {client: minimal, tokenEnv: &token FLEET, require: &needs [sessions]}\ntargets:\n';
    const { targets } = await read(head + rows.join(''));
    expect([targets.length, targets[499]?.secrets.tokenEnv]).toEqual([500, 'FLEET']);
    await expect(read(`targets: ${'['.repeat(20_000)}`)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('is nested too deeply'),
    });
  });

  it('reads 10,000 lines', async () => {
    const rows = Array.from(
      { length: 3333 },
      (_, i) => `  - name: t${i}\n    address: http://127.0.0.1:${1024 + i}\n    client: minimal\n`,
    );
    expect((await read(`targets:\n${rows.join('')}`)).targets).toHaveLength(3333);
  });
});
