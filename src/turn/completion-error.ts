/**
 * Some engines hand a provider's failure over as if the model had said it. Text alone cannot prove that, so this is off unless a client asks
 * for it: an answer *about* HTTP errors must stay an answer.
 */

const patterns = [
  /^(Error: )?API call failed after \d+ retries: \S/i,
  /^(Error: )?HTTP \d{3}: \S/,
  /^Error code: \d{3} - \{/,
  /^(Provider|Gateway) error: \S/i,
  /^(Error: )?(Missing|Invalid|Incorrect) (\S+ )?API key( provided)?\b/i,
  /^(Error: )?(401 )?(Unauthorized|403 Forbidden)\.?$/i,
];

/** The error when a completed text is nothing but one: one short paragraph in the form of a failure. Else null. */
export function completionErrorText(text: string): string | null {
  const line = text.trim();
  if (line.length > 600 || /\n\s*\n/.test(line) || line.includes('```')) return null;
  return patterns.some((pattern) => pattern.test(line)) ? line : null;
}
