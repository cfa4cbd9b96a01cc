import type { Install } from '../../engine/schema.ts';
import type { Host } from '../../host/types.ts';
import { sha256 } from '../../patch/text.ts';

/**
 * An upgrade by pip or uv replaces every file of the package without a word. Each edit of the user is a sentence.
 *
 * @param without by path, what taking our edits out would write; null where it would delete
 */
export async function pipRisks(
  host: Host,
  install: Install,
  without: ReadonlyMap<string, Buffer | null>,
): Promise<string[]> {
  const risks: string[] = [];
  for (const file of install.editedFiles) {
    const full = file.startsWith('/') ? file : `${install.root}/${file}`;
    const after = without.get(full);
    if (after !== undefined && (after === null || (await isRecorded(host, install, full, after)))) continue;
    risks.push(`${file}: an upgrade of this kind of install replaces it, and your edit would be gone`);
  }
  return risks;
}

async function isRecorded(host: Host, install: Install, full: string, bytes: Buffer): Promise<boolean> {
  const promised = `${full.slice(install.root.length + 1)},sha256=${Buffer.from(sha256(bytes), 'hex').toString('base64url')}`;
  const { code } = await host.script('cat "$1"/*.dist-info/RECORD 2>/dev/null | grep -qF -- "$2"', [
    install.root,
    promised,
  ]);
  return code === 0;
}
