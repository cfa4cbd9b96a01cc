import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { cookieJar } from '../../src/probe/cookies.ts';
import { createRedactor } from '../../src/probe/redact.ts';

const secret = 'a+b/c="Secret<7>&é-0123456789';

describe('redaction', () => {
  const redact = createRedactor([secret]);

  it.each([
    ['as it is', `x ${secret} y`],
    ['percent-encoded', `/a?b=${encodeURIComponent(secret)}`],
    [
      'percent-encoded in lower case',
      encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
    ],
    ['in JSON', JSON.stringify({ input: secret })],
    [
      'in HTML',
      `<p>${secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')}</p>`,
    ],
    ['where the text is cut', `${'x'.repeat(285)}${secret}`],
    ['far behind the cut', `${'x'.repeat(10_000)}${secret}`],
  ])('hides a known secret %s', (_, text) => {
    const shown = redact.text(text);
    expect(shown).not.toContain('Secret');
    expect(shown.length).toBeLessThanOrEqual(300);
  });

  it.each([
    [
      'https://user:pass@host/x?token=abc&ticket=def&a=1#access_token=ghi',
      'https://[redacted]@host/x?token=[redacted]&ticket=[redacted]&a=1#access_token=[redacted]',
    ],
    ['/login?next=%2Fx&state=s1&code=c1', '/login?next=%2Fx&state=[redacted]&code=[redacted]'],
    ['/cdn-cgi/access/login?kid=1&meta=eyJh', '/cdn-cgi/access/login?kid=1&meta=[redacted]'],
    [
      '/api/ws?api_key=1&API-KEY=2&session_token=3',
      '/api/ws?api_key=[redacted]&API-KEY=[redacted]&session_token=[redacted]',
    ],
    ['/api/sessions?limit=1', '/api/sessions?limit=1'],
  ])('of the URL %s', (url, shown) => {
    expect(createRedactor().url(url)).toBe(shown);
  });

  it.each([
    ['{"session_token": "abc\\"d", "x": 1}', '{"session_token": "[redacted]", "x": 1}'],
    ['{"code":"invalid_api_key","state":"ready"}', '{"code":"invalid_api_key","state":"ready"}'],
    ['got Bearer abcdefgh.ijkl and Basic QWxhZGRpbjpvcGVu', 'got Bearer [redacted] and Basic [redacted]'],
    ['Cookie: a=b; c=d\nnext', 'Cookie: [redacted] next'],
    ['basic auth is fine', 'basic auth is fine'],
  ])('by name: %s', (text, shown) => {
    expect(createRedactor().text(text)).toBe(shown);
  });

  it('a document, but not our own words', () => {
    const known = createRedactor(['short', 'a-long-secret-value']);
    expect(known.deep({ kind: 'short', list: [`x a-long-secret-value`], none: null, n: 1 })).toEqual({
      kind: 'short',
      list: ['x [redacted]'],
      none: null,
      n: 1,
    });
  });

  it('no text of a stranger keeps a secret, a control character or a broken surrogate, whatever stands around it', () => {
    const around = fc.string({ unit: 'binary', maxLength: 400 });
    fc.assert(
      fc.property(around, around, (before, after) => {
        const known = createRedactor(['CANARY-0123456789']);
        for (const shown of [
          known.text(`${before}CANARY-0123456789${after}`),
          known.url(`${before}CANARY-0123456789${after}`),
        ]) {
          expect(shown).not.toContain('CANARY-0123456789');
          expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
          expect(Buffer.from(shown, 'utf8').toString('utf8')).toBe(shown);
        }
      }),
    );
  });
});

describe('cookies', () => {
  const jar = () => cookieJar(createRedactor(), () => Date.parse('2026-11-30T00:00:00Z'));
  const header = (cookies: string[]): string | null => {
    const held = jar();
    held.take(cookies.map((line) => ['set-cookie', line] as const));
    return held.header();
  };

  it.each([
    [['a=1; Path=/; HttpOnly', 'b=2'], 'a=1; b=2'],
    [['a=1', '__Host-a=""; Max-Age=0; Secure'], 'a=1'],
    [['a=1', 'a=; Max-Age=0'], null],
    [['a=1', 'a=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], null],
    [['a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT'], 'a=1'],
    [['a=1', 'a=2'], 'a=2'],
    [['a=1=2==; Secure'], 'a=1=2=='],
    [['bad\u0007name=1', 'ok=ü', '=x', ''], null],
    [[], null],
  ])('%j leave %j', (lines, expected) => {
    expect(header(lines)).toBe(expected);
  });
});
