// The requests of `doctor` on a running dashboard, done bare: node:http and ws, no judging, no disk. argv: base URL; BARE_TOKEN in the environment.
import { Agent, get as request } from 'node:http';
import { WebSocket } from 'ws';

const base = process.argv[2];
const token = process.env.BARE_TOKEN;
const agent = new Agent({ keepAlive: true });
const get = (path, headers = {}) =>
  new Promise((resolve, reject) => {
    const sent = request(base + path, { agent, headers }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => resolve(Buffer.concat(chunks).toString()));
    });
    sent.once('error', reject);
  });
await get('/api/status');
const auth = { 'x-hermes-session-token': token, authorization: `Bearer ${token}` };
const socket = () =>
  new Promise((resolve, reject) => {
    const ws = new WebSocket(`${base.replace('http', 'ws')}/api/ws?token=${token}`, { headers: auth });
    ws.once('open', () => ws.send(JSON.stringify({ jsonrpc: '2.0', id: '1', method: 'bare.probe' })));
    ws.on('message', (data) => {
      if (JSON.parse(Buffer.from(data).toString()).id === '1') {
        ws.terminate();
        resolve();
      }
    });
    ws.once('error', reject);
  });
const page = async () => {
  const html = await get('/');
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1];
  if (script !== undefined) await get(script);
};
await Promise.all([
  page(),
  get('/api/health'),
  get('/api/sessions?limit=1'),
  get('/api/sessions?limit=1', auth),
  get('/api/sessions/no-such-session/messages', auth),
  get('/api/model/options', auth),
  get('/api/model/library', auth),
  socket(),
]);
agent.destroy();
