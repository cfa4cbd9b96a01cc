import { createHash } from 'node:crypto';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LocateAsk } from '../../src/engine/gather.ts';
import { locate, type Located } from '../../src/engine/locate.ts';
import { localHost } from '../../src/host/local.ts';

/** A machine of its own: a home folder, an empty PATH folder, nothing of the person who runs the tests. */
export interface Box {
  home: string;
  bin: string;
  path: (...parts: string[]) => string;
  write: (path: string, text: string, mode?: number) => Promise<string>;
  locate: (ask?: Partial<LocateAsk>) => Promise<Located>;
  remove: () => Promise<void>;
}

export async function makeBox(): Promise<Box> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'hermes-locate-')));
  const home = join(base, 'home');
  const bin = join(base, 'bin');
  await mkdir(home);
  await mkdir(bin);
  const path = (...parts: string[]): string => join(base, ...parts);
  const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin` };
  return {
    home,
    bin,
    path,
    async write(name, text, mode = 0o644) {
      const full = name.startsWith('/') ? name : path(name);
      await mkdir(dirname(full), { recursive: true });
      await writeFile(full, text);
      await chmod(full, mode);
      return full;
    },
    locate: (ask = {}) =>
      locate(localHost({ path: env.PATH, home, platform: process.platform }), {
        path: null,
        home: null,
        profile: null,
        port: null,
        timeoutMs: 20_000,
        ...ask,
        env: { ...env, ...ask.env },
      }),
    remove: () => rm(base, { recursive: true, force: true, maxRetries: 5 }),
  };
}

const webServers: Record<'G0' | 'G1' | 'G2', string> = {
  G0: `from hermes_cli import __version__, __release_date__
from hermes_cli.config import load_config
app = FastAPI()
_DASHBOARD_EMBEDDED_CHAT_ENABLED = False
@app.websocket("/api/ws")
async def ws(socket):
    if not _DASHBOARD_EMBEDDED_CHAT_ENABLED:
        return
def start_server(
    host: str = "127.0.0.1",
    port: int = 9119,
    *,
    embedded_chat: bool = False,
):
    """Start the web UI server."""
    global _DASHBOARD_EMBEDDED_CHAT_ENABLED
    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat
`,
  G1: `from hermes_cli.config import load_config
_DASHBOARD_EMBEDDED_CHAT_ENABLED = True
@app.websocket("/api/ws")
async def ws(socket):
    pass
def start_server(
    host: str = "127.0.0.1",
    initial_profile: str = "",
):
    pass
`,
  G2: `from hermes_cli.config import load_config
from hermes_cli.web_routers import models
_DASHBOARD_EMBEDDED_CHAT_ENABLED = True
def start_server(
    host: str = "127.0.0.1",
    initial_profile: str = "",
    headless: bool = False,
):
    pass
`,
};

/** A small tree of the shape that a release has. Returns its root. */
export async function makeTree(
  box: Box,
  root: string,
  generation: 'G0' | 'G1' | 'G2' = 'G1',
  version = '0.19.0',
): Promise<string> {
  const file = (name: string, text: string): Promise<string> => box.write(join(root, name), text);
  await file('hermes_cli/__init__.py', `__version__ = "${version}"\n__release_date__ = "2026.7.20"\n`);
  await file('hermes_cli/config.py', 'def load_config(): ...\n');
  await file('hermes_cli/main.py', 'def main(): ...\n');
  await file('hermes_cli/web_server.py', webServers[generation]);
  await file('tui_gateway/server.py', generation === 'G0' ? '' : 'DESKTOP_BACKEND_CONTRACT = 4\n');
  if (generation === 'G2') {
    await file('hermes_cli/web_routers/__init__.py', '');
    await file('hermes_cli/web_routers/models.py', '');
    await file('hermes_cli/web_routers/chat_ws.py', '@router.websocket("/api/ws")\n');
  }
  return root.startsWith('/') ? root : box.path(root);
}

/** A virtual environment with such a tree as a wheel in it: RECORD with right hashes, console script. Returns its prefix. */
export async function makeVenv(
  box: Box,
  prefix: string,
  options: { generation?: 'G0' | 'G1' | 'G2'; version?: string; installer?: string; shebang?: string } = {},
): Promise<string> {
  const full = prefix.startsWith('/') ? prefix : box.path(prefix);
  const { generation = 'G1', version = '0.19.0', installer = 'uv' } = options;
  const site = join(full, 'lib/python3.11/site-packages');
  await makeTree(box, site, generation, version);
  await box.write(
    join(full, 'pyvenv.cfg'),
    'home = /usr/bin\ninclude-system-site-packages = false\nversion_info = 3.11.7\n',
  );
  await mkdir(join(full, 'bin'), { recursive: true });
  await symlink('/usr/bin/true', join(full, 'bin/python'));
  await box.write(
    join(full, 'bin/hermes'),
    options.shebang ??
      `#!${full}/bin/python\nimport sys\nfrom hermes_cli.main import main\nsys.exit(main())\n`,
    0o755,
  );
  const dist = join(site, `hermes_agent-${version}.dist-info`);
  await box.write(
    join(dist, 'METADATA'),
    `Metadata-Version: 2.4\nName: hermes-agent\nVersion: ${version}\n\nVersion: not this\n`,
  );
  await box.write(join(dist, 'INSTALLER'), installer);
  await box.write(join(dist, 'RECORD'), await recordOf(site));
  // Installed a minute ago: an edit made now is newer, whatever the file system's grain.
  for (const name of await readdir(site, { recursive: true })) {
    const then = Date.now() / 1000 - 60;
    await utimes(join(site, name), then, then);
  }
  return full;
}

async function recordOf(site: string): Promise<string> {
  const names = await readdir(site, { recursive: true });
  const lines: string[] = [];
  for (const name of names.filter((each) => each.endsWith('.py')).sort()) {
    const bytes = await readFile(join(site, name));
    lines.push(`${name},sha256=${createHash('sha256').update(bytes).digest('base64url')},${bytes.length}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Every path below a folder with what changes when somebody writes: size, mode, times, content. */
export async function snapshot(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const lines: string[] = [];
  for (const name of ['.', ...names]) {
    const found = await stat(join(folder, name)).catch(() => null);
    if (found === null) continue;
    const digest = found.isFile()
      ? createHash('sha256')
          .update(await readFile(join(folder, name)))
          .digest('hex')
      : '';
    lines.push([name, found.size, found.mode, found.mtimeMs, found.ctimeMs, digest].join(' '));
  }
  return lines;
}
