import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkAuthorities, checkClientCertificate } from '../../src/target/certificates.ts';

const pem = (name: string): string =>
  readFileSync(new URL(`../probe/certs/${name}.pem`, import.meta.url), 'utf8');
const ca = pem('ca');
const garbage = '-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n';

test('one authority, several, and text around them', () => {
  checkAuthorities(ca, 'ca.pem');
  checkAuthorities(`# ours\n${ca}\n# theirs\r\n${ca.replaceAll('\n', '\r\n')}`, 'ca.pem');
});

test.each([
  ['nothing', '', 'ca.pem holds no PEM certificate'],
  ['a key', '-----BEGIN PRIVATE KEY-----\nxx\n-----END PRIVATE KEY-----', 'holds no PEM certificate'],
  ['garbage in the right dress', garbage, 'the certificate in ca.pem cannot be read'],
  ['a cut one', ca.slice(0, 300), 'the certificate in ca.pem cannot be read'],
  ['a good one, then garbage', ca + garbage, 'certificate 2 of 2 in ca.pem cannot be read'],
])('an authority that is %s', (_, text, said) => {
  expect(() => checkAuthorities(text, 'ca.pem')).toThrow(said);
});

test('a client certificate with its key, and every way to have them wrong', () => {
  const client = pem('client');
  checkClientCertificate(client, 'client.pem');
  const certificate = /-----BEGIN CERTIFICATE[\s\S]*END CERTIFICATE-----\n/.exec(client)?.[0] ?? '';
  const key = (more: string[] = []): string =>
    execFileSync(
      'openssl',
      ['genpkey', '-quiet', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', ...more],
      {
        encoding: 'utf8',
      },
    );
  for (const [text, said] of [
    [certificate, 'holds no private key'],
    [certificate + key(), 'does not belong to its first certificate'],
    [certificate + key(['-aes256', '-pass', 'pass:canary']), 'is encrypted'],
    [`${certificate}-----BEGIN PRIVATE KEY-----\nxx\n-----END PRIVATE KEY-----\n`, 'cannot be read'],
    [key(), 'holds no PEM certificate'],
  ] as const)
    expect(() => checkClientCertificate(text, 'client.pem')).toThrow(said);
});
