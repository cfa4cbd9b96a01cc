// A line that is slow each way, in a process of its own. stdin: one JSON line { delayMs, to: [port] }; stdout: the ports that lead there.
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';

const forward = (from, to, delayMs) => {
  from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
  from.on('error', () => to.destroy());
  from.on('close', () => setTimeout(() => to.destroy(), delayMs));
};

const listen = (port, delayMs) =>
  new Promise((resolve) => {
    const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
      const upstream = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
      forward(client, upstream, delayMs);
      forward(upstream, client, delayMs);
    });
    server.listen(0, '127.0.0.1', 2048, () => resolve(server.address().port));
  });

const open = async ({ delayMs, to }) => {
  const ports = [];
  for (const port of to) ports.push(await listen(port, delayMs));
  process.stdout.write(`${JSON.stringify(ports)}\n`);
};

const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => void open(JSON.parse(line)));
lines.once('close', () => process.exit(0));
