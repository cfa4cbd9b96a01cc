// The requests of `doctor` on a running dashboard, done bare: undici and ws, no judging, no disk. argv: base URL; BARE_TOKEN in the environment.
import { Client } from 'undici';
import { WebSocket } from 'ws';

const base = process.argv[2];
const token = process.env.BARE_TOKEN;
const client = new Client(base, { pipelining: 1 });
const others = Array.from({ length: 5 }, () => new Client(base));
const get = async (from, path, headers = {}) => {
  const { body } = await from.request({ method: 'GET', path, headers });
  return body.text();
};
await get(client, '/api/status');
const auth = { 'x-hermes-session-token': token, authorization: `Bearer ${token}` };
const socket = () =>
  new Promise((resolve, reject) => {
    const ws = new WebSocket(`${base.replace('http', 'ws')}/api/ws?token=${token}`, { headers: auth });
    ws.once('open', () => ws.send(JSON.stringify({ jsonrpc: '2.0', id: '1', method: 'bare.probe' })));
    ws.on('message', (data) => {
      if (JSON.parse(/** @type {Buffer} */ (data).toString()).id === '1') {
        ws.terminate();
        resolve();
      }
    });
    ws.once('error', reject);
  });
const page = async () => {
  const html = await get(others[0], '/');
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1];
  if (script !== undefined) await get(others[0], script);
};
await Promise.all([
  page(),
  get(others[1], '/api/health'),
  get(others[1], '/api/sessions?limit=1'),
  get(others[2], '/api/sessions?limit=1', auth),
  get(others[2], '/api/sessions/no-such-session/messages', auth),
  get(others[3], '/api/model/options', auth),
  get(others[4], '/api/model/library', auth),
  socket(),
]);
await Promise.all([client, ...others].map((each) => each.destroy()));
