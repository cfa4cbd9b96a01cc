import { usageError } from '../errors.ts';
import { documentHead } from '../tool.ts';
import type { BuildCommand } from './command.ts';
import { examples } from './command.ts';
import { emit } from './output.ts';
import type { RawOptions } from './request.ts';

export const contract: BuildCommand = (command, { io }) => {
  command
    .argument('[client]', 'one client; none prints all')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      examples(['hermes-compat contract', 'hermes-compat contract hermes-desktop --json']),
    )
    .action(async (name: string | undefined, options: RawOptions) => {
      const [{ readClients }, { clientText }] = await Promise.all([
        import('../judge/client.ts'),
        import('../report/client-text.ts'),
      ]);
      const clients = await readClients();
      const chosen = name === undefined ? clients : clients.filter((each) => each.name === name);
      if (chosen.length === 0)
        throw usageError(
          `no client "${(name ?? '').slice(0, 40)}"; there is ${clients.map((each) => each.name).join(', ')}`,
        );
      const text =
        options['json'] === true
          ? `${JSON.stringify({ ...documentHead('clients'), clients: chosen }, null, 2)}\n`
          : chosen.map(clientText).join('\n');
      await emit(io, {}, text);
    });
};
