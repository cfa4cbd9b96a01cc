import { describe, expect, it } from 'vitest';
import { fingerprint, readCredential } from '../../src/target/credential.ts';

const sources = {
  env: { T: 'from-env\n', HERMES_COMPAT_TOKEN: 'lowest', EMPTY: '', BLANK: 'token ' },
  readFile: async (path: string) => `file:${path}\n`,
  readStdin: async () => 'from-stdin',
  runCommand: async (command: string) => `ran ${command}`,
};

describe('credentials', () => {
  it.each([
    [{ tokenEnv: 'T' }, 'token-env', 'from-env'],
    [{ tokenFile: 'f' }, 'token-file', 'file:f'],
    [{ tokenStdin: true }, 'token-stdin', 'from-stdin'],
    [{ tokenCommand: 'pass x' }, 'token-command', 'ran pass x'],
    [{}, 'env', 'lowest'],
  ])('%j', async (flags, source, secret) => {
    expect(await readCredential(flags, sources)).toEqual({
      kind: 'token',
      source,
      secret,
      username: null,
      fingerprint: fingerprint(secret),
    });
  });

  it('reads a login', async () => {
    const login = await readCredential({ username: 'me', passwordEnv: 'T' }, sources);
    expect(login).toMatchObject({ kind: 'login', username: 'me', secret: 'from-env' });
  });

  it('a password keeps its blanks', async () => {
    expect(await readCredential({ username: 'me', passwordEnv: 'BLANK' }, sources)).toMatchObject({
      secret: 'token ',
    });
  });

  it('is null without any', async () => {
    expect(await readCredential({}, { ...sources, env: {} })).toBeNull();
  });

  it.each([
    [{ tokenEnv: 'T', tokenFile: 'f' }],
    [{ tokenEnv: 'UNSET' }],
    [{ tokenEnv: 'EMPTY' }],
    [{ username: 'me' }],
    [{ username: 'me', tokenEnv: 'T' }],
    [{ passwordEnv: 'T' }],
    [{ tokenEnv: 'BLANK' }],
  ])('%j is a usage error', async (flags) => {
    await expect(readCredential(flags, sources)).rejects.toMatchObject({ kind: 'usage' });
  });
});
