import { describe, expect, it } from 'vitest';
import { targetsOfInventory } from '../../src/target/ansible-inventory.ts';

/** As ansible-inventory of core 2.19 prints it. */
const inventory = (
  hostvars: Record<string, Record<string, unknown>>,
  hosts = Object.keys(hostvars),
): string =>
  JSON.stringify({
    _meta: { hostvars, profile: 'inventory_legacy' },
    all: { children: ['ungrouped', 'web'] },
    web: { hosts },
  });

describe('an Ansible inventory', () => {
  it('gives a target for each host, by name', () => {
    const targets = targetsOfInventory(
      inventory(
        {
          beta: { hermes_compat_address: 'https://box.example/hermes', hermes_compat_client: 'hermes-one' },
          alpha: {
            ansible_host: '10.0.0.1',
            ansible_port: 2222,
            ansible_user: 'me',
            hermes_compat_token_env: 'T',
          },
          six: { ansible_host: '::1' },
          here: { ansible_connection: 'local' },
        },
        ['beta', 'alpha', 'bare'],
      ),
      'minimal',
    );
    expect(targets.map(({ name, client, target, secrets }) => [name, client, target, secrets])).toEqual([
      [
        'alpha',
        'minimal',
        { kind: 'ssh', name: 'alpha', address: '10.0.0.1', user: 'me', port: 2222, path: null },
        { tokenEnv: 'T' },
      ],
      [
        'bare',
        'minimal',
        { kind: 'ssh', name: 'bare', address: 'bare', user: null, port: null, path: null },
        {},
      ],
      ['beta', 'hermes-one', { kind: 'http', name: 'beta', url: 'https://box.example/hermes' }, {}],
      ['here', 'minimal', { kind: 'local', name: 'here', path: null }, {}],
      [
        'six',
        'minimal',
        { kind: 'ssh', name: 'six', address: '::1', user: null, port: null, path: null },
        {},
      ],
    ]);
  });

  it.each([
    ['{', 'did not print JSON'],
    ['{}', 'holds no hosts'],
    ['[1]', 'holds no hosts'],
    [
      inventory({ a: { ansible_host: '{{ inventory_hostname }}.example' } }),
      'host a: its address is a template',
    ],
    [inventory({ a: { ansible_host: '-oProxyCommand=id' } }), 'host a: the target has no usable host name'],
    [inventory({ a: { ansible_user: '-x' } }), 'host a: the target has a user name'],
    [
      inventory({ a: { hermes_compat_address: 'http://me:S3cret@h' } }),
      'host a: the target holds a user name or password',
    ],
  ])('%s is refused', (text, said) => {
    expect(() => targetsOfInventory(text, 'minimal')).toThrow(said);
    expect(() => targetsOfInventory(text, 'minimal')).not.toThrow(/S3cret/);
  });

  it('asks for a client', () => {
    expect(() => targetsOfInventory(inventory({ a: {} }), null)).toThrow('host a: no client');
  });
});
