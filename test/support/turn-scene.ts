import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { openChat, type Chat } from '../../src/live/chat.ts';
import type { Way } from '../../src/live/way.ts';
import { startProvider, type Provider, type ProviderOptions } from '../../src/simulate/index.ts';
import type { GatewayQuestion } from '../../src/turn/index.ts';
import { startEngine, type Engine } from './engines.ts';

/** A home with a scripted model, an engine that can be started there again and again, and chats with it. All of it ends with the test. */
export interface TurnScene {
  folder: string;
  home: string;
  provider: Provider;
  start: () => Promise<Engine>;
}

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

export const later = (step: () => unknown): void => void undo.push(step);

/** `more` are further lines of config.yaml. */
export async function turnScene(
  version: string,
  more: (provider: Provider) => string = () => 'approvals: {mode: "off"}\n',
  model: ProviderOptions = {},
): Promise<TurnScene> {
  const folder = await mkdtemp(join(tmpdir(), 'turn-scene-'));
  later(async () => {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    // A helper process of 0.14 that is just ending makes its home anew.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const provider = await startProvider(model);
  later(() => provider.close());
  const home = join(folder, '.hermes');
  await mkdir(home);
  await writeFile(
    join(home, 'config.yaml'),
    `model: {default: scripted-1, provider: custom, base_url: "${provider.url}", api_key: sk-scripted, context_length: 64000}
agent: {max_turns: 30, api_max_retries: 1, auto_recovery_cycles: 1}
${more(provider)}`,
  );
  const env: Record<string, string> = version.startsWith('0.14') ? { HERMES_DASHBOARD_TUI: '1' } : {};
  return {
    folder,
    home,
    provider,
    start: async () => {
      const engine = await startEngine({ version, home, env });
      later(() => engine.stop());
      return engine;
    },
  };
}

export const wayOf = ({ url, token }: Engine): Way => ({
  url,
  used: token === null ? { kind: 'none' } : { kind: 'token', token },
  origin: null,
  connection: {},
});

export async function chatOf(
  engine: Engine,
  onQuestion: (question: GatewayQuestion) => string | null = () => 'deny',
): Promise<Chat> {
  const chat = await openChat({ way: wayOf(engine), signal: AbortSignal.timeout(570_000), onQuestion });
  later(() => chat.close());
  return chat;
}
