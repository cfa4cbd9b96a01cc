import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { write } from './io.ts';

export const demo: BuildCommand = (command, context) => {
  command
    .option('--no-color', 'no colour')
    .addHelpText('after', examples(['hermes-compat demo']))
    .action((options: { color?: boolean }) => runDemo(options, context));
};

/** The main job on an embedded stand-in: a 0.14.0 whose chat is off. Needs no Hermes, writes nothing, ends what it started. */
async function runDemo(options: { color?: boolean }, { io }: Context): Promise<void> {
  const [{ startSimulator }, { main }] = await Promise.all([
    import('../simulate/simulator.ts'),
    import('./main.ts'),
  ]);
  const simulator = await startSimulator({ release: '0.14.0' });
  const url = new URL(simulator.url);
  try {
    await write(io.stdout, `A simulated Hermes Agent 0.14.0, started without its chat, at\n${url.origin}.\n`);
    await write(io.stdout, `$ hermes-compat doctor ${url.origin}\n\n`);
    await main(['doctor', url.origin, ...(options.color === false ? ['--no-color'] : [])], io);
    await write(io.stdout, closing);
  } finally {
    await simulator.close();
  }
}

const closing = `
That is the main job: a verdict, its cause with evidence, and the command that
fixes it. On a machine with Hermes Agent it is: hermes-compat doctor
`;
