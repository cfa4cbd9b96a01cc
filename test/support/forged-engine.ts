import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyEngine } from './engine-copy.ts';

/** An engine that nobody knows yet, made of the newest: its files are as its own RECORD says, so that nothing looks edited. */
export async function forgeEngine(
  version: string,
  venv: string,
  edits: Record<string, (text: string) => string>,
): Promise<void> {
  const site = await copyEngine(version, venv);
  for (const [path, change] of Object.entries(edits)) {
    const before = await readFile(join(site, path), 'utf8');
    const after = change(before);
    if (after === before) throw new Error(`nothing was changed in ${path}`);
    await writeFile(join(site, path), after);
  }
  await record(site);
}

/** Writes the hashes of the engine's own files into RECORD, as an installer does. */
async function record(site: string): Promise<void> {
  const info = (await readdir(site)).find((name) => /^hermes_agent.*\.dist-info$/.test(name)) ?? '';
  const file = join(site, info, 'RECORD');
  const lines = (await readFile(file, 'utf8')).split('\n');
  const own = /^((?:hermes_cli|tui_gateway|gateway)\/[^,"]+\.py),sha256=/;
  const written = await Promise.all(
    lines.map(async (line) => {
      const path = own.exec(line)?.[1];
      if (path === undefined) return line;
      const bytes = await readFile(join(site, path));
      return `${path},sha256=${createHash('sha256').update(bytes).digest('base64url')},${bytes.length}`;
    }),
  );
  await writeFile(file, written.join('\n'));
}

/** The newest engine with a moved anchor, a new contract and a status field that nobody has seen. */
export const threeNews: Record<string, (text: string) => string> = {
  'hermes_cli/web_server.py': (text) =>
    text.replace(
      /^_mount_plugin_api_routes\(\)\n/m,
      'def _mount_everything() -> None:\n    _mount_plugin_api_routes()\n\n\n_mount_everything()\n',
    ),
  'tui_gateway/server.py': (text) =>
    text.replace('DESKTOP_BACKEND_CONTRACT = 8', 'DESKTOP_BACKEND_CONTRACT = 9'),
  'hermes_cli/web_routers/status.py': (text) =>
    text.replace(
      '        status["gateway_mode"] = topology["gateway_mode"]\n',
      '        status["gateway_mode"] = topology["gateway_mode"]\n        status["forecast"] = "rain"\n',
    ),
};
