import { describe, expect, it } from 'vitest';
import { proxyFromEnv } from '../../src/target/proxy-env.ts';

const both = { HTTPS_PROXY: 'http://secure.example:3128', HTTP_PROXY: 'plain.example:8080' };

describe('the proxy of the environment', () => {
  it.each([
    ['https://box.example', both, 'HTTPS_PROXY', 'http://secure.example:3128/'],
    ['http://box.example', both, 'HTTP_PROXY', 'http://plain.example:8080/'],
    [
      'http://box.example',
      { ...both, http_proxy: 'http://lower.example' },
      'http_proxy',
      'http://lower.example/',
    ],
    ['https://box.example', { ALL_PROXY: 'https://all.example' }, 'ALL_PROXY', 'https://all.example/'],
    [
      'https://box.example',
      { HTTPS_PROXY: '', ALL_PROXY: 'http://me:pw@all.example' },
      'ALL_PROXY',
      'http://me:pw@all.example/',
    ],
    ['http://[2001:db8::1]:9119', both, 'HTTP_PROXY', 'http://plain.example:8080/'],
  ])('%s with %j', (url, env, from, proxy) => {
    expect(proxyFromEnv(url, env)).toEqual({ url: proxy, from });
  });

  it.each([
    'http://127.0.0.1:9119',
    'http://127.9.9.9',
    'http://localhost:9119',
    'https://hermes.localhost',
    'http://[::1]:9119',
  ])('%s is this machine: never', (url) => {
    expect(proxyFromEnv(url, { ...both, NO_PROXY: '' })).toBeNull();
  });

  it('none is named', () => {
    expect(proxyFromEnv('https://box.example', {})).toBeNull();
    expect(proxyFromEnv('http://box.example', { HTTPS_PROXY: 'http://p.example' })).toBeNull();
  });

  it.each([
    ['box.example', 'box.example', true],
    ['a.box.example', 'box.example', true],
    ['a.box.example', '.box.example', true],
    ['a.box.example', '*.box.example', true],
    ['notbox.example', 'box.example', false],
    ['BOX.example', 'Box.Example', true],
    ['box.example', '*', true],
    ['box.example', 'other.example, box.example', true],
    ['box.example', 'other.example box.example', true],
    ['box.example', 'box.example:443', true],
    ['box.example', 'box.example:8443', false],
    ['10.1.2.3', '10.0.0.0/8', true],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.3:443', true],
    ['10.1.2.3', '10.1.2.4', false],
    ['11.1.2.3', '10.0.0.0/8', false],
    ['192.168.1.77', '192.168.1.64/26', true],
    ['192.168.1.130', '192.168.1.64/26', false],
    ['10.1.2.3', '10.0.0.0/99', false],
    ['10.1.2.3', 'ten/8', false],
    ['[2001:db8::7]', '2001:db8::/32', true],
    ['[2001:db8::7]', '2001:DB8:0:0:0:0:0:7', true],
    ['[2001:db8::7]', '[2001:db8::7]:443', true],
    ['[2001:db9::7]', '2001:db8::/32', false],
    ['10.box.example', '10.0.0.0/8', false],
    ['box.example', '', false],
    ['box.example', ',, ,', false],
  ])('https://%s with NO_PROXY=%s: direct is %s', (host, exceptions, direct) => {
    expect(proxyFromEnv(`https://${host}`, { ...both, NO_PROXY: exceptions }) === null).toBe(direct);
    expect(proxyFromEnv(`https://${host}`, { ...both, no_proxy: exceptions, NO_PROXY: '*' }) === null).toBe(
      direct,
    );
  });

  it('of another kind is refused by its variable, without what it holds', () => {
    expect(() => proxyFromEnv('https://box.example', { ALL_PROXY: 'socks5://me:S3cret@p.example' })).toThrow(
      /ALL_PROXY names a socks5 proxy/,
    );
    expect(() =>
      proxyFromEnv('https://box.example', { ALL_PROXY: 'socks5://me:S3cret@p.example' }),
    ).not.toThrow(/S3cret/);
    expect(() => proxyFromEnv('https://box.example', { HTTPS_PROXY: 'http://[' })).toThrow(
      /HTTPS_PROXY holds no URL/,
    );
  });
});
