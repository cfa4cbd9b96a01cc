import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { localHost } from '../../src/host/local.ts';
import type { HookPlace } from '../../src/lifecycle/hooks/types.ts';
import { gitTree, type GitTree } from './git-tree.ts';
import { openTree } from './lifecycle.ts';

/** A small tree, and a place for hooks whose command is a script that leaves a trace in `ran`. The caller removes the tree. */
export async function hookPlace(): Promise<{ tree: GitTree; place: HookPlace; ran: string }> {
  const tree = await gitTree();
  const bin = join(tree.folder, 'bin');
  await mkdir(bin);
  const ran = join(tree.folder, 'ran');
  const recheck = join(tree.folder, "re check's 100%");
  await writeFile(recheck, `#!/bin/sh\necho "$@" >>"${ran}"\n`, { mode: 0o755 });
  // A crontab that keeps its table in a file, as the real one does for its account.
  await writeFile(
    join(bin, 'crontab'),
    `#!/bin/sh
table=${tree.folder}/table
case $1 in
  -l) [ -f "$table" ] && cat "$table" || { echo "no crontab for you" >&2; exit 1; } ;;
  -r) rm -f "$table" ;;
  -) cat >"$table" ;;
esac
`,
    { mode: 0o755 },
  );
  const path = `${bin}:/usr/local/bin:/usr/bin:/bin`;
  const host = localHost({ path, home: tree.folder, platform: 'linux' });
  const { session } = await openTree({ install: tree.root, home: tree.home }, host);
  const { home, install } = session.scene;
  const command = [recheck, 'hook', 'run', '--home', home.root];
  return {
    tree,
    ran,
    place: { host, home, install, command, userHome: tree.folder, onPath: null },
  };
}
