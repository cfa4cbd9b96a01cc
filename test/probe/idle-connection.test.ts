import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { closeAll, hermes, look, raw, ws } from './servers.ts';

afterEach(closeAll);

const timeout = 'HTTP/1.1 408 Request Time-out\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

// HAProxy and others answer 408 on a connection on which nothing was asked for a while, as on the one that we open ahead.
it.each([
  ['before it is used', 0],
  ['while it is being used', 1],
])(
  'a connection that was opened ahead and timed out %s is not the answer to the upgrade',
  async (_, when) => {
    const engine = await hermes();
    let count = 0;
    const edge = await raw((client) => {
      count += 1;
      if (count === 2) {
        if (when === 0) client.end(timeout);
        else client.once('data', () => client.end(timeout));
        return;
      }
      const upstream = connect(engine.port, '127.0.0.1');
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    });
    const result = await look(`http://127.0.0.1:${edge.port}`);
    expect(ws(result)).toMatchObject({ outcome: 'open', status: 101, error: null });
    expect(result.facts.ws.filter(({ id }) => id === 'main')).toHaveLength(1);
    expect(result.facts.rpc.outcome).toBe('answered');
  },
);
