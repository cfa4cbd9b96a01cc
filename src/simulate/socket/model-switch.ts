import { since } from '../release/since.ts';
import type { Session } from '../world.ts';
import type { Call, Reply } from './reply.ts';
import { result, rpcError, textOf } from './reply.ts';
import { addRow } from './run.ts';

/** Another model for one session, and the row that newer engines store about it. */

const noted = (model: string, provider: string): string =>
  `[System: The active model for this chat has changed to ${model} via provider ${provider}. From this point forward, use this runtime metadata when answering questions about what model/provider is active.]`;

const tell = (session: Session, { hub }: Call, model: string, provider: string): void => {
  const { release } = hub.world;
  if (!since(release, '0.17.0') || session.rows.length === 0) return;
  addRow(session, {
    role: since(release, '0.18.2') ? 'user' : 'system',
    content: noted(model, provider),
    ...(since(release, '0.20.0') && { kind: 'model_switch' }),
  });
};

/** `config.set`, of which the stand-in knows the model alone. */
export const setConfig = (session: Session, call: Call): Reply => {
  const { hub, params } = call;
  const key = textOf(params, 'key');
  if (key !== 'model') return rpcError(4002, `unknown config key: ${key}`);
  const [model = '', named] = textOf(params, 'value').split(' --provider ');
  if (model === '') return rpcError(4002, 'model value required');
  session.model = model;
  tell(session, call, model, named ?? (hub.world.model.provider || 'custom'));
  return result({
    key,
    value: model,
    warning: '',
    ...(since(hub.world.release, '0.17.0') && { confirm_required: false, confirm_message: '' }),
    ...(since(hub.world.release, '0.18.2') && { scope: 'session' }),
  });
};
