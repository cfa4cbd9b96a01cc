import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import type { Reading } from './reading.ts';
import { chatNeedsSwitch } from './release-data.ts';
import { envLine, launch } from './remedies/launch.ts';
import { overlay } from './remedies/overlay.ts';
import { update } from './remedies/update.ts';
import { atLeast } from './version.ts';

/** Whether the engine's embedded chat is on, as far as page, process and disk tell. `certain` only from the page of the running server. */
export interface ChatGate {
  state: 'on' | 'off' | 'unknown';
  confidence: 'certain' | 'likely';
  evidence: string[];
}

export function chatGate(reading: Reading): ChatGate {
  const flag = reading.http('page')?.body?.page?.embeddedChat ?? null;
  if (flag !== null)
    return {
      state: flag ? 'on' : 'off',
      confidence: 'certain',
      evidence: [`the page says __HERMES_DASHBOARD_EMBEDDED_CHAT__=${String(flag)}`],
    };
  return fromDisk(reading);
}

const unknown = (evidence: string[] = []): ChatGate => ({ state: 'unknown', confidence: 'likely', evidence });

function fromDisk(reading: Reading): ChatGate {
  const { install, version } = reading;
  if (install === null) return unknown();
  const said = (state: 'on' | 'off', ...evidence: string[]): ChatGate => ({
    state,
    confidence: 'likely',
    evidence,
  });
  if (install.chatAssignment === 'always-on')
    return said('on', `${install.root}: start_server turns the chat on`);
  const needsSwitch =
    install.chatAssignment === 'from-parameter' ||
    (install.chatAssignment === 'unknown' && version !== null && chatNeedsSwitch(version));
  if (!needsSwitch) {
    if (
      install.generation === 'G1' ||
      install.generation === 'G2' ||
      (version !== null && atLeast(version, '0.16.0'))
    )
      return said('on', `${install.version ?? install.root} has the chat always on`);
    return unknown();
  }
  const gate = `${install.version ?? install.root}: start_server leaves the chat off unless the launch asks for it`;
  return launchSetting(reading, gate);
}

/** On ≤0.15 only `--tui` or HERMES_DASHBOARD_TUI=1 (environment or .env of the home, which wins) turns it on; exactly the text `1` counts. */
function launchSetting(reading: Reading, gate: string): ChatGate {
  const { process: running, home } = reading;
  const said = (state: 'on' | 'off', ...evidence: string[]): ChatGate => ({
    state,
    confidence: 'likely',
    evidence: [gate, ...evidence],
  });
  if (home?.overlay.present === true && home.overlay.carries.includes('embedded-chat'))
    return said('on', 'our overlay in the home turns it on');
  if (running?.argv.includes('--tui') === true)
    return said('on', `pid ${running.pid} was started with --tui`);
  const inFile = home?.envFile.tui ?? null;
  if (inFile !== null) return said(inFile === '1' ? 'on' : 'off', `.env has HERMES_DASHBOARD_TUI=${inFile}`);
  if (running !== null && running.env.tui !== null)
    return said(
      running.env.tui === '1' ? 'on' : 'off',
      `pid ${running.pid} has HERMES_DASHBOARD_TUI=${running.env.tui}`,
    );
  if (running !== null && !running.env.readable)
    return unknown([gate, `the environment of pid ${running.pid} cannot be read`]);
  if (running !== null) return said('off', `pid ${running.pid} runs without --tui and HERMES_DASHBOARD_TUI`);
  if (reading.facts.service !== null) return unknown([gate]);
  return said('off', 'neither .env nor an overlay turns it on');
}

const loopback = /^(127\.0\.0\.1|localhost|::1|\[::1\])$/;

/** Bound beyond loopback. On ≤0.15 every peer would get a terminal without login once the chat is on. */
export const openToNetwork = (reading: Reading): boolean => {
  const bind = reading.process?.bind ?? null;
  return bind !== null && !loopback.test(bind);
};

/** CHAT_DISABLED when the gate is known to be off, else null. */
export function chatDraft(reading: Reading): Draft | null {
  const gate = chatGate(reading);
  if (gate.state !== 'off') return null;
  const safe = openToNetwork(reading)
    ? []
    : [overlay(reading, 'embedded-chat'), launch(reading), envLine(reading, 'HERMES_DASHBOARD_TUI=1')];
  return draft('CHAT_DISABLED', {
    confidence: gate.confidence,
    args: { version: reading.versionText, openToNetwork: openToNetwork(reading) },
    evidence: gate.evidence,
    remedies: [...safe, update(reading, '0.16.0')],
  });
}
