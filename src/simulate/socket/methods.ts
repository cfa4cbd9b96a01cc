import { modelOptions } from '../http/models.ts';
import { storedSessions } from '../http/session-rows.ts';
import { since } from '../release/since.ts';
import type { Release } from '../release/types.ts';
import { findOpen } from './hub.ts';
import type { Method } from './reply.ts';
import { result, rpcError, textOf } from './reply.ts';
import { sessionMethods } from './session-methods.ts';

const setup = (release: Release): Record<string, unknown> => {
  const configured = release.rpcProviders.includes('opencode-free');
  if (!release.serverRequests) return { provider_configured: configured };
  const free = since(release, '0.22.2')
    ? { free_tier_account: false, free_tier_route: false }
    : { free_tier: false };
  return { provider_configured: false, ready: true, ...free, other_providers: false, inference_provider: '' };
};

const olderRequests =
  'approval clarify preview.act preview.read secret sudo terminal.read tour vault.code vault.save_login vault.unlock_prompt window.read';
const newerRequests =
  'approval clarify display.install.sudo preview.act preview.read secret setup_beat sudo terminal.read theme.apply theme.pick tour vault.code vault.save_login vault.unlock_prompt window.read';

/** Requests that the engine can send to a client that says that it answers them. */
const serverRequests = (release: Release): Record<string, unknown> =>
  since(release, '0.22.2')
    ? { server_requests: newerRequests.split(' '), declines_not_shown: true }
    : { server_requests: olderRequests.split(' ') };

const general: readonly Method[] = [
  { name: 'setup.status', params: 'profile', answer: ({ hub }) => result(setup(hub.world.release)) },
  { name: 'ping', from: '0.21.0', params: '', answer: () => result({ pong: true }) },
  {
    name: 'client.capabilities',
    from: '0.21.4',
    params: 'server_requests',
    answer: ({ hub, connection, params }) => {
      connection.answersRequests = params['server_requests'] === true;
      return result(serverRequests(hub.world.release));
    },
  },
  {
    name: 'model.options',
    params: 'profile session_id explicit_only include_unconfigured refresh',
    answer: ({ hub, params }) => {
      const { world } = hub;
      const options = modelOptions(world, world.release.rpcProviders, world.release.defaultModel);
      return result({ ...options, model: findOpen(hub, params['session_id'])?.model ?? options['model'] });
    },
  },
  {
    name: 'config.get',
    params: 'profile key cwd session_id',
    answer: ({ params }) => rpcError(4002, `unknown config key: ${textOf(params, 'key')}`),
  },
  {
    name: 'session.list',
    params: 'profile title limit include_hidden',
    answer: ({ hub }) =>
      result({
        sessions: storedSessions(hub.world).map((session) => ({
          id: session.stored,
          title: session.title,
          preview: session.rows[0]?.content.slice(0, 60) ?? '',
          started_at: session.startedAt / 1000,
          message_count: session.rows.length,
          source: 'tui',
        })),
      }),
  },
  {
    name: 'approval.respond',
    params: 'session_id profile choice all request_id',
    answer: ({ hub, params }) => {
      const session = findOpen(hub, params['session_id']);
      if (session === undefined) return rpcError(4001, 'session not found');
      const { question } = session;
      question?.answer({ choice: params['choice'] });
      return result({ resolved: question === null ? 0 : 1 });
    },
  },
  {
    name: 'clarify.respond',
    until: '0.21.0',
    params: 'request_id answer session_id',
    answer: ({ hub, params }) => {
      const asking = hub.world.sessions.find(
        ({ question }) => question !== null && question.requestId === params['request_id'],
      );
      if (asking?.question) {
        asking.question.answer({ answer: params['answer'] });
        return result({ status: 'ok' });
      }
      return since(hub.world.release, '0.20.0')
        ? result({ status: 'expired' })
        : rpcError(4009, 'no pending answer request');
    },
  },
];

export const methods: readonly Method[] = [...general, ...sessionMethods];

/** Methods of a release. */
export const methodsOf = (release: Release): Method[] =>
  methods.filter(
    ({ from, until }) =>
      (from === undefined || since(release, from)) &&
      (until === undefined || !since(release, until) || release.version.startsWith(until)),
  );
