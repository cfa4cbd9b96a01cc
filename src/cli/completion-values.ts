import type { RootCommand } from '@bomb.sh/tab';

/** Values that options can take, from the lists that the program itself uses. Grows with the registries. */
const values: Record<string, () => Promise<readonly string[]>> = {
  format: async () => ['human', 'json', 'ndjson', 'junit', 'github', 'html', 'rows'],
  patience: async () => ['normal', 'cold'],
  mode: async () => ['auto', 'dashboard', 'legacy'],
  'fail-on': async () => ['error', 'warn'],
  'session-probe': async () => ['auto', 'always', 'never'],
  release: async () => (await import('../simulate/release/table.ts')).releases.map(({ version }) => version),
  fault: async () => (await import('../simulate/faults/list.ts')).faults.map(({ name }) => name),
};

/** Gives each known option of every command its candidates. */
export async function collectOptionValues(root: RootCommand): Promise<void> {
  for (const command of root.commands.values()) {
    for (const [name, load] of Object.entries(values)) {
      const option = command.options.get(name);
      if (option === undefined) continue;
      const candidates = await load();
      option.handler = (complete) => candidates.forEach((candidate) => complete(candidate, ''));
      option.isBoolean = false;
    }
  }
}
