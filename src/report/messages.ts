import type { Message } from './message.ts';
import { credentialMessages } from './messages-credential.ts';
import { edgeMessages } from './messages-edge.ts';
import { installMessages } from './messages-install.ts';
import { launchMessages } from './messages-launch.ts';
import { patchMessages } from './messages-patch.ts';
import { reachMessages } from './messages-reach.ts';
import { sshMessages } from './messages-ssh.ts';
import { turnMessages } from './messages-turn.ts';
import { websocketMessages } from './messages-websocket.ts';

/** The words for every finding code, the only place that has them. */
export const messages: ReadonlyMap<string, Message> = new Map(
  Object.entries({
    ...reachMessages,
    ...edgeMessages,
    ...credentialMessages,
    ...websocketMessages,
    ...installMessages,
    ...launchMessages,
    ...patchMessages,
    ...sshMessages,
    ...turnMessages,
  }),
);

/** The sentence for a finding. A code that a newer version wrote has none here, so it says its name. */
export const sentence = (finding: { code: string; args: Parameters<Message['says']>[0] }): string =>
  messages.get(finding.code)?.says(finding.args) ?? finding.code;

/** What to do about this very case in words, also where commands follow; empty when the commands say it all. */
export const adviceNow = (finding: { code: string; args: Parameters<Message['says']>[0] }): string =>
  messages.get(finding.code)?.now?.(finding.args) ?? '';

/** What to do about this very case, in words. */
export const advice = (finding: { code: string; args: Parameters<Message['says']>[0] }): string => {
  const message = messages.get(finding.code);
  return adviceNow(finding) || (message?.todo ?? '');
};
