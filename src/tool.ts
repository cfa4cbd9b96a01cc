import { readFileSync } from 'node:fs';

/** Name and version of this program, as every JSON document carries them. */
export interface Tool {
  name: string;
  version: string;
}

const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

export const tool: Tool = { name: 'hermes-compat', version: (manifest as { version: string }).version };

/** Version of our JSON documents. A minor adds keys, a major breaks. */
export const schemaVersion = '1.0';

/** How a JSON document begins; its schema is `headSchema`. */
export const documentHead = <K extends string>(kind: K): { schemaVersion: string; kind: K; tool: Tool } => ({
  schemaVersion,
  kind,
  tool,
});

/** URL of a data file or folder that ships beside `dist/` (patches, clients, schemas, host-scripts). */
export const packaged = (path: string): URL => new URL(`../${path}`, import.meta.url);
