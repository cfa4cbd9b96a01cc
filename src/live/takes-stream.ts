/**
 * What joining a session does to the client that shows it; null where nothing. Up to 0.20 a session's events go to one socket, the last that
 * attached or submitted; 0.14 and 0.15 build a second runtime session that shows nothing of the first.
 */
export function takesStream(version: string | null): string | null {
  const minor = Number(/^0\.(\d+)\./.exec(version ?? '')?.[1] ?? 'NaN');
  if (Number.isNaN(minor))
    return 'This engine does not tell its version; if it is older than 0.21, the client that shows this session now gets nothing more of the running turn.';
  if (minor >= 21) return null;
  if (minor < 16)
    return `Hermes ${version} builds a second runtime of the session: nothing of a running turn will be seen here, and both may write its rows.`;
  return `On Hermes ${version} only one client gets the frames of a session: the one that shows it now gets nothing more until it sends or attaches again.`;
}
