import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineDir, fullLadder, requireEngines, sitePackages } from '../test/support/engine-install.ts';
import { node, program } from './paths.ts';
import { compare } from './ratio.ts';
import { ratioSection, type Section } from './section.ts';

/** A plan on the largest real web_server.py of the ladder, against the engine's Python that only parses that file. */
export async function plan(runs = 7): Promise<Section> {
  const found: { version: string; file: string; size: number }[] = [];
  for (const version of fullLadder) {
    if (!(await requireEngines(version))) continue;
    const file = join(await sitePackages(engineDir(version)), 'hermes_cli/web_server.py');
    found.push({ version, file, size: (await stat(file)).size });
  }
  const [largest] = found.toSorted((a, b) => b.size - a.size);
  if (largest === undefined) throw new Error('no engine is installed');
  const { version, file, size } = largest;
  const lines = (await readFile(file, 'utf8')).split('\n').length;
  const home = await mkdtemp(join(tmpdir(), 'bench-plan-'));
  const target = ['--target', `local:${engineDir(version)}`, '--home', home];
  try {
    const parse = ['-I', '-c', 'import ast,sys; ast.parse(open(sys.argv[1],"rb").read())', file];
    const row = compare(
      `\`patch plan --carrier source\`, ${version} / Python that parses the file`,
      [node, program, 'patch', 'plan', '--carrier', 'source', ...target],
      [join(engineDir(version), 'bin/python'), ...parse],
      { runs, limit: null },
    );
    return ratioSection(
      'Plan',
      `The largest \`web_server.py\` of all releases: ${version}, ${lines} lines, ${(size / 1024).toFixed(0)} KiB. A plan looks at the install, reads the file, finds its places by structure, makes the new bytes and their diff.`,
      [row],
    );
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}
