import { fileURLToPath } from 'node:url';

export const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
export const program = here('../bin/hermes-compat.js');
export const node = process.execPath;
