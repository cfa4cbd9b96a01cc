/** An entry of `<root home>/spawn-ledger.json` (0.22, `hermes_cli/process_identity.py`). */
export interface LedgerEntry {
  pid: number;
  /** Seconds since 1970. */
  createTime: number | null;
  host: string | null;
  port: number | null;
  profile: string | null;
  hermesHome: string | null;
}

/** Entries that have a pid; none for a file that is corrupt. */
export function parseLedger(text: string): LedgerEntry[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return [];
  }
  if (!Array.isArray(parsed)) return [];
  return parsed.slice(0, 200).flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const field = (name: string): unknown => (Object.hasOwn(entry, name) ? Reflect.get(entry, name) : null);
    const pid = field('pid');
    if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return [];
    return [
      {
        pid,
        createTime: number(field('create_time')),
        host: filledText(field('host')),
        port: portNumber(field('port')),
        profile: filledText(field('profile')),
        hermesHome: filledText(field('hermes_home')),
      },
    ];
  });
}

/** Port in the file that HERMES_DESKTOP_READY_FILE names (0.18+): `{"port": n}`. */
export function readyPort(text: string): number | null {
  return portNumber(Number(/"port"\s*:\s*(\d{1,5})\b/.exec(text)?.[1] ?? Number.NaN));
}

const number = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
const filledText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length < 4096 ? value : null;
const portNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536 ? value : null;
