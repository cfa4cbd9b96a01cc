import { Duplex } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { withSpares } from '../../src/host/ssh/spare-tunnels.ts';

const stream = (): Duplex => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });

describe('spare tunnels', () => {
  it('come with the first on a slow line, and are used up before new ones are opened', async () => {
    let opened = 0;
    const connect = withSpares(
      async () => {
        opened++;
        return stream();
      },
      () => true,
    );
    const first = await connect('127.0.0.1', 1);
    const atOnce = opened;
    expect(atOnce).toBeGreaterThan(1);
    const more = await Promise.all(Array.from({ length: atOnce - 1 }, () => connect('127.0.0.1', 1)));
    expect(opened).toBe(atOnce);
    expect(new Set([first, ...more]).size).toBe(atOnce);
    await connect('127.0.0.1', 1);
    expect(opened).toBe(atOnce + 1);
  });

  it('one that has ended, or never opened, is passed over', async () => {
    const made: Duplex[] = [];
    let count = 0;
    const connect = withSpares(
      async () => {
        if (++count === 2) throw new Error('no');
        made.push(stream());
        return made.at(-1) as Duplex;
      },
      () => true,
    );
    await connect('h', 1);
    made[1]?.destroy();
    const next = await connect('h', 1);
    expect(next).toBe(made[2]);
  });

  it('one whose other side has gone, as when the dashboard was restarted, is passed over', async () => {
    const made: Duplex[] = [];
    const connect = withSpares(
      async () => {
        made.push(stream());
        return made.at(-1) as Duplex;
      },
      () => true,
    );
    await connect('h', 1);
    // Nobody reads it, so nobody hears of its end.
    for (const spare of made.slice(1)) spare.push(null);
    const before = made.length;
    expect(made.indexOf(await connect('h', 1))).toBe(before);
    expect(made.slice(1, before).every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('on a fast line, and for another port, each is its own', async () => {
    let opened = 0;
    const connect = withSpares(
      async () => {
        opened++;
        return stream();
      },
      () => false,
    );
    await connect('h', 1);
    await connect('h', 1);
    await connect('h', 2);
    expect(opened).toBe(3);
  });

  it('the error of the first is the error', async () => {
    const connect = withSpares(
      () => Promise.reject(new Error('refused')),
      () => true,
    );
    await expect(connect('h', 1)).rejects.toThrow('refused');
    await expect(connect('h', 1)).rejects.toThrow('refused');
  });
});
