import type { Catalogue } from './catalogue.ts';
import { makePlan, unifiedDiff } from './plan.ts';
import { tool } from '../tool.ts';
import type { World } from './world.ts';

/**
 * The source edits of these patches as one patch for `git apply` or `git am`, with paths below the install root: what upstream
 * could take. Made from the files as they are; nothing is written.
 */
export async function exportPatch(
  world: World,
  catalogue: Catalogue,
  ids: readonly string[],
  at: Date,
): Promise<{ text: string; refused: string[] }> {
  const options = {
    do: 'apply' as const,
    patches: [...ids],
    carrier: 'source' as const,
    allowNonLoopback: false,
    replace: false,
  };
  const { document, changes } = await makePlan(world, catalogue, options);
  const refused = [
    ...document.refusals.map(({ patch, reason }) => `${patch}: ${reason}`),
    ...document.notes.map(({ patch, text }) => `${patch}: ${text}`),
  ];
  const root = world.install === null ? '' : `${world.install.root.replace(/\/$/, '')}/`;
  const diffs: string[] = [];
  for (const { state, before, after } of changes) {
    const path = state.path.startsWith(root) ? state.path.slice(root.length) : state.path;
    const header = [`diff --git a/${path} b/${path}`, ...(before === null ? ['new file mode 100644'] : [])];
    diffs.push(`${header.join('\n')}\n${await unifiedDiff(path, before, after)}`);
  }
  if (diffs.length === 0) return { text: '', refused };
  const wanted = catalogue.patches.filter(({ id }) => document.steps.some(({ patch }) => patch === id));
  const subject = wanted.map(({ title }) => title).join('; ');
  const head = [
    'From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001',
    `From: ${tool.name} <${tool.name}@localhost>`,
    `Date: ${at.toUTCString().replace('GMT', '+0000')}`,
    `Subject: [PATCH] ${subject}`,
    '',
    ...wanted.map(({ purpose }) => purpose),
    '---',
    '',
  ];
  return { text: `${head.join('\n')}\n${diffs.join('')}-- \n${tool.name} ${tool.version}\n`, refused };
}
