/** Output of `host-scripts/gather/`: named sections, each as long as it says. */
export interface Frame {
  sections: Map<string, string>;
  /** The end line arrived and every section had its length. */
  complete: boolean;
  /** What came before the first line of ours: banners, start-up files of a shell. */
  noise: string;
}

/** null when the begin line never came: another shell, a forced command, an account without one. */
export function parseFrame(bytes: Buffer, nonce: string): Frame | null {
  const begin = Buffer.from(`@${nonce} begin\n`);
  const start = bytes.indexOf(begin);
  if (start < 0) return null;
  const sections = new Map<string, string>();
  const frame: Frame = { sections, complete: false, noise: bytes.subarray(0, start).toString() };
  let at = start + begin.length;
  while (at < bytes.length) {
    const lineEnd = bytes.indexOf(10, at);
    if (lineEnd < 0) return frame;
    const line = bytes.subarray(at, lineEnd).toString();
    if (line === `@${nonce} end`) {
      frame.complete = true;
      return frame;
    }
    const header = new RegExp(`^@${nonce} ([\\w.-]+) (\\d{1,9})$`).exec(line);
    // A child of the script that wrote to our output: skip the line, the next header says where we are.
    if (!header) {
      at = lineEnd + 1;
      continue;
    }
    const end = lineEnd + 1 + Number(header[2]);
    if (end > bytes.length) return frame;
    sections.set(header[1] as string, bytes.subarray(lineEnd + 1, end).toString());
    at = end + 1;
  }
  return frame;
}

/** Lines of fields with a tab between them, by their first field. */
export function parseRecords(text: string): Map<string, string[][]> {
  const records = new Map<string, string[][]>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [kind = '', ...fields] = line.split('\t');
    const known = records.get(kind);
    if (known) known.push(fields);
    else records.set(kind, [fields]);
  }
  return records;
}
