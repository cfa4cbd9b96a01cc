import type { Client, ClientChannel } from 'ssh2';

/** Two methods inside ssh2 1.17. */
interface Inner {
  exec(channel: number, command: unknown, reply: boolean): void;
  channelData(channel: number, data: Buffer): void;
}

type Exec = (
  command: string,
  input: string,
  give: (error: Error | undefined, channel: ClientChannel) => void,
) => unknown;

/**
 * `client.exec` with first input. ssh2 takes input when the server has agreed to the command; the protocol does not ask for
 * that wait (RFC 4254 §6.5), and it is a whole round trip. So the input goes out right behind the request; where ssh2 has
 * changed inside, it waits.
 */
export function execWithInput(client: Client): Exec {
  const inner = (client as unknown as { _protocol?: Partial<Inner> })._protocol;
  const { exec, channelData } = inner ?? {};
  if (exec === undefined || channelData === undefined) {
    return (command, input, give) =>
      client.exec(command, (error, channel) => {
        if (error === undefined) channel.write(input);
        give(error, channel);
      });
  }
  /** ssh2 hands the command on as it is: its identity tells which input belongs to it. */
  const inputs = new WeakMap<object, Buffer>();
  (inner as Inner).exec = (channel, command, reply) => {
    exec.call(inner, channel, command, reply);
    const input = inputs.get(command as object);
    if (input !== undefined) channelData.call(inner, channel, input);
  };
  return (command, input, give) => {
    const [text, first] = [Buffer.from(command), Buffer.from(input)];
    inputs.set(text, first);
    return client.exec(text as unknown as string, (error, channel) => {
      if (error === undefined) takeFromWindow(channel, first.length);
      give(error, channel);
    });
  };
}

/** The server counts what it gets; ssh2 counts what it sends itself. */
function takeFromWindow(channel: ClientChannel, bytes: number): void {
  const { outgoing } = channel as unknown as { outgoing?: { window?: number } };
  if (typeof outgoing?.window === 'number') outgoing.window -= bytes;
}
