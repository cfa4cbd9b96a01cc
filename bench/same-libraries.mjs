// What `doctor` on a closed port loads from elsewhere, and nothing of ours.
await Promise.all([import('commander'), import('node:http'), import('node:https'), import('node:crypto')]);
