import { usageError } from '../errors.ts';

/** One finding that a team knows of and accepts until a day. */
export interface KnownFinding {
  target: string;
  code: string;
  /** Last day, `YYYY-MM-DD` in UTC, on which it is accepted. */
  until: string;
  reason: string;
}

/**
 * Reads `--baseline FILE` (YAML or JSON): `{ known: [{ target, code, until, reason }] }`.
 *
 * @throws CompatError usage
 */
export async function parseBaseline(text: string, label: string): Promise<KnownFinding[]> {
  const [{ parse }, { baselineSchema }] = await Promise.all([import('yaml'), import('./baseline-schema.ts')]);
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 10_000, merge: false });
  } catch (error) {
    throw usageError(
      `${label} is not YAML: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''}`,
      { cause: error },
    );
  }
  const checked = baselineSchema.safeParse(value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw usageError(
      `${label}: ${issue?.path.map(String).join('.') || 'the file'}: ${issue?.message ?? 'is wrong'}`,
    );
  }
  return checked.data.known;
}
