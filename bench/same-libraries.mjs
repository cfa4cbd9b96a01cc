// What `doctor` on an http target loads, and nothing else.
await Promise.all([import('commander'), import('undici'), import('ws')]);
