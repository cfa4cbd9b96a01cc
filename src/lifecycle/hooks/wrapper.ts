import { quote, quoteAll } from '../../host/quote.ts';
import { filesOnly, type HookKind, type HookPlace } from './types.ts';

/** Stands in place of the first `hermes` on PATH. Only on request: it is the one hook that other programs run through. */
export const wrapper: HookKind = {
  id: 'wrapper',
  does: 'runs the re-check after each `update` that goes through the hermes command on PATH',
  limits: 'a reinstall replaces the command, and with it the wrapper; updates by other roads do not pass it',
  async problem(place) {
    const { host, onPath } = place;
    if (onPath === null) return 'no hermes is on PATH';
    if (await isOfEnvironment(place, onPath))
      return `${onPath} is the command of the engine's own environment, which an update writes anew. Run this with the PATH of a new login, where another hermes leads to it, or take another hook: hermes-compat hook install git cron`;
    const folder = onPath.slice(0, onPath.lastIndexOf('/'));
    const [stat, me] = await Promise.all([host.stat(folder, true), host.identity()]);
    if (stat === null || (me.uid !== 0 && stat.uid !== me.uid)) return `${folder} belongs to another account`;
    return null;
  },
  async files(place) {
    const { onPath } = place;
    if (onPath === null) return [];
    return [{ path: onPath, text: await wrapperText(place, onPath), mode: 0o755 }];
  },
  ...filesOnly,
};

/** Beside the Python that runs it; with an activated environment it is the first on PATH. */
async function isOfEnvironment({ host, install }: HookPlace, onPath: string): Promise<boolean> {
  const folder = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';
  const real = (path: string): Promise<string> => host.realpath(path).catch(() => path);
  const here = await real(folder(onPath));
  if ((await host.stat(`${folder(here)}/pyvenv.cfg`, true)) !== null) return true;
  const python = install?.interpreter == null ? null : await real(folder(install.interpreter.path));
  return here === python;
}

/** The moved command keeps its name: the engine knows its own processes by it. */
export const wrappedPath = (path: string): string => {
  const at = path.lastIndexOf('/');
  return `${path.slice(0, at)}/.before-hermes-compat${path.slice(at)}`;
};

async function wrapperText({ host, command }: HookPlace, onPath: string): Promise<string> {
  const stat = await host.stat(onPath);
  // A link may be relative: what it leads to is called where it is.
  const real = stat?.kind === 'symlink' ? await host.realpath(onPath) : wrappedPath(onPath);
  return `#!/bin/sh
# Made by hermes-compat hook install wrapper; hermes-compat hook remove wrapper puts back what was here.
for hc_word do
  case $hc_word in
    update) hc_update=1 ;;
  esac
done
if [ -z "\${hc_update:-}" ]; then
exec ${quote(real)} "$@"
fi
${quote(real)} "$@"
hc_code=$?
${quoteAll(command)} >/dev/null 2>&1 </dev/null
exit "$hc_code"
`;
}
