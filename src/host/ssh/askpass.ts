import { rm, writeFile } from 'node:fs/promises';
import { quote } from '../quote.ts';

/** How the ssh program gets a secret that we were given: by a helper that reads it from a file beside it. */
export interface Askpass {
  /** For the environment of the program; holds paths only. */
  env: Record<string, string>;
  forget(): Promise<void>;
}

/** ssh never asks by itself: neither on a terminal that it finds, nor in a window. */
export const noAskpass: Record<string, string> = { SSH_ASKPASS_REQUIRE: 'never' };

/**
 * ssh(1), SSH_ASKPASS: runs the helper with the question as its argument and takes its output as the answer. A question for a
 * yes (`confirm`) gets a no: host keys are never accepted this way. DISPLAY is what releases before 8.4 need.
 *
 * @param folder ours alone, mode 0700
 */
export async function askpass(folder: string, secret: string, env: Record<string, string>): Promise<Askpass> {
  const [helper, file] = [`${folder}/askpass`, `${folder}/secret`];
  await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  const text = `#!/bin/sh\n[ "$SSH_ASKPASS_PROMPT" = confirm ] && exit 1\nexec cat ${quote(file)}\n`;
  await writeFile(helper, text, { mode: 0o700, flag: 'wx' });
  return {
    env: { SSH_ASKPASS: helper, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: env['DISPLAY'] ?? ':0' },
    forget: async () => {
      await Promise.all([helper, file].map((path) => rm(path, { force: true })));
    },
  };
}
