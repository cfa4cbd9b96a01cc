import { describe, expect, it } from 'vitest';
import { lastRefusal } from '../../src/lifecycle/refusal-reason.ts';

describe('the reason that the engine logged', () => {
  it.each([
    [
      '2026 WARNING gui: console refused: origin_mismatch origin=https://evil.example bound=127.0.0.1',
      'refused origin_mismatch origin=https://evil.example bound=127.0.0.1',
    ],
    [
      'x console auth rejected reason=token_mismatch mode=loopback cred=token peer=127.0.0.1',
      'auth rejected reason=token_mismatch mode=loopback peer=127.0.0.1',
    ],
    [
      'x console refused: peer_not_loopback peer=10.0.0.7\nx other line',
      'refused peer_not_loopback peer=10.0.0.7',
    ],
    ['nothing of that kind', null],
    ['', null],
  ])('%j', (log, reason) => {
    expect(lastRefusal(log)).toBe(reason);
  });

  it('takes the last one', () => {
    const log = 'console refused: host_mismatch host=a bound=b\nconsole refused: peer_not_loopback peer=c\n';
    expect(lastRefusal(log)).toContain('peer_not_loopback');
  });
});
