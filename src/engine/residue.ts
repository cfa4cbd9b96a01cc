import { type Gathered, linesOf, recordsOf } from './gather.ts';
import { stashMessages } from './install-state.ts';
import type { VersionClaim } from './install-versions.ts';
import { type RawInstall, unique } from './raw-install.ts';
import type { Install } from './schema.ts';
import { disagree } from './version.ts';

/** What updates leave behind in a tree. Paths relative to the install root. */
export function residueOf(
  raw: RawInstall,
  gathered: Gathered,
  claims: VersionClaim[],
): NonNullable<Install['residue']> {
  const relative = (path: string): string => path.slice(raw.root.length + 1);
  const inTree = (path: string): boolean => path.startsWith(`${raw.root}/`);
  const messages = stashMessages(linesOf(gathered, `stash.${raw.index}`));
  const web = recordsOf(gathered, 'webstale', raw.index)[0]?.[0];
  return {
    conflictMarkers: unique([...withMarkers(raw), ...recordsOf(gathered, 'marked', raw.root).flat()]).map(
      relative,
    ),
    staleBytecode: (gathered.records.get('stale') ?? []).flat().filter(inTree).map(relative),
    backups: raw.flags('backup').map(relative),
    mixedVersions: claims.some((a) => claims.some((b) => disagree(a.version, b.version)))
      ? claims.map(({ file, version }) => `${file}: ${version}`)
      : [],
    parked: recordsOf(gathered, 'parked', raw.index)
      .flat()
      .map((entry) => `${entry}: ${messages[Number(/\d+/.exec(entry)?.[0])] ?? ''}`),
    webBuildStale: web === undefined ? null : web === 'yes',
  };
}

/** Files that hold both ends of a conflict. */
function withMarkers(raw: RawInstall): string[] {
  const files = (mark: string): string[] =>
    raw.code.flatMap(({ file, text }) => (text.startsWith(mark) ? [file] : []));
  const ends = new Set(files('>>>>>>> '));
  return unique(files('<<<<<<< ').filter((file) => ends.has(file)));
}
