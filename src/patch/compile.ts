import { CompatError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { FileChange } from './draft.ts';
import { pluginName } from './overlay-files.ts';

/** Compiles each Python file, and reads the configuration as the engine will. Prints `file: why` for each that fails. */
const script = `
import base64, json, sys
for item in json.load(sys.stdin):
    before, after = (None if text is None else base64.b64decode(text) for text in (item["before"], item["after"]))
    if item["path"].endswith(".py"):
        for what, source in (("before", before), ("after", after)):
            if source is None:
                continue
            try:
                compile(source, item["path"], "exec", dont_inherit=True)
            except (SyntaxError, ValueError) as error:
                print(json.dumps([what, item["path"], str(error)]))
                break
    else:
        try:
            import yaml
        except ImportError:
            continue
        def read(source):
            data = (yaml.safe_load(source) if source else None) or {}
            enabled = (data.get("plugins") or {}).pop("enabled", None) or []
            if not data.get("plugins"):
                data.pop("plugins", None)
            return [name for name in enabled if name != item["name"]], data
        try:
            what = "before"
            meant = read(before)
            what = "after"
            if read(after) != meant:
                raise ValueError("it would mean something else than before")
        except (ValueError, yaml.YAMLError) as error:
            print(json.dumps([what, item["path"], " ".join(str(error).split())]))
`;

/**
 * Asks the engine's own Python whether it takes the new bytes. Writes nothing.
 *
 * @throws CompatError refused (the file was broken before), rolled-back (ours is), unchecked (no answer)
 */
export async function compileAll(host: Host, python: string, changes: readonly FileChange[]): Promise<void> {
  const asked = changes.filter(({ state, after }) => after !== null && /\.(py|yaml)$/.test(state.path));
  if (asked.length === 0) return;
  const encode = (bytes: Buffer | null): string | null => bytes?.toString('base64') ?? null;
  const input = asked.map(({ state, before, after }) => ({
    path: state.path,
    before: encode(before),
    after: encode(after),
    name: pluginName,
  }));
  const result = await host.run([python, '-I', '-B', '-c', script], {
    stdin: JSON.stringify(input),
    timeoutMs: 60_000,
  });
  if (result.code !== 0) {
    const why = result.stderr.toString('utf8').trim().split('\n').at(-1) ?? '';
    throw new CompatError('unchecked', `${python} could not check the change: ${why.slice(0, 300)}`, {
      finding: 'ENGINE_BROKEN_PACKAGE',
    });
  }
  const [line] = result.stdout.toString('utf8').split('\n');
  if (line === undefined || line === '') return;
  const [what, path, why] = JSON.parse(line) as [string, string, string];
  if (what === 'before' && path.endsWith('.yaml'))
    throw new CompatError('refused', `the engine cannot read ${path} as it is: ${why}`, {
      finding: 'OVERLAY_NOT_LOADED',
      args: { path },
    });
  if (what === 'before')
    throw new CompatError('refused', `${path} does not compile as it is: ${why}`, {
      finding: 'ENGINE_BROKEN_PACKAGE',
      args: { path },
    });
  throw new CompatError('rolled-back', `${path} would not work: ${why}; nothing was written`, {
    args: { path },
  });
}
