import { since } from '../release/since.ts';
import type { Release } from '../release/types.ts';
import type { Session } from '../world.ts';
import { attachFile, attachImage } from './attach.ts';
import { attach, emit, findOpen, openSession } from './hub.ts';
import { fullInfo, lazyInfo, shownMessages, usageOf } from './info.ts';
import { setConfig } from './model-switch.ts';
import type { Call, Method, Reply } from './reply.ts';
import { result, rpcError } from './reply.ts';
import { runTurn } from './turn.ts';

const missing = rpcError(4001, 'session not found');

/** Answers for the open session that the call names. */
const inSession =
  (answer: (session: Session, call: Call) => Reply) =>
  (call: Call): Reply => {
    const session = findOpen(call.hub, call.params['session_id']);
    return session === undefined ? missing : answer(session, call);
  };

const create = (call: Call): Reply => {
  const { hub, connection } = call;
  const session = openSession(hub);
  attach(hub, session, connection);
  const stored = { stored_session_id: session.stored, message_count: 0, messages: [] };
  return result({
    session_id: session.id,
    ...(hub.world.release.storedIdInCreate && stored),
    info: lazyInfo(hub.world),
  });
};

const inflight = ({ turn }: Session): unknown =>
  turn === null ? null : { user: turn.prompt, assistant: turn.text, streaming: true };

const attachAnswer = (session: Session, { hub, connection }: Call): Reply => {
  attach(hub, session, connection);
  const { release } = hub.world;
  const running = session.turn !== null;
  // The running turn is not among the messages, but in `inflight`.
  const rows = running && !release.numbered ? session.rows.slice(0, lastUser(session)) : session.rows;
  const state = {
    inflight: inflight(session),
    running,
    session_key: session.stored,
    started_at: session.startedAt / 1000,
    status: running ? 'working' : 'idle',
  };
  return result({
    session_id: session.id,
    resumed: session.stored,
    message_count: session.rows.length,
    messages: shownMessages(hub.world, rows),
    ...(since(release, '0.21.0') && { messages_omitted: false }),
    info: since(release, '0.16.0') ? lazyInfo(hub.world) : fullInfo(hub.world, running),
    ...(since(release, '0.15.2') && state),
  });
};

const lastUser = (session: Session): number => session.rows.findLastIndex((row) => row.role === 'user');

const resume = (call: Call): Reply => {
  const { hub, params } = call;
  const id = params['session_id'];
  if (typeof id !== 'string' || id === '') return rpcError(4006, 'session_id required');
  const known = hub.world.sessions.filter((session) => session.stored === id && session.rows.length > 0);
  const last = known.at(-1);
  if (last === undefined) return rpcError(4007, 'session not found');
  if (last.open && since(hub.world.release, '0.16.0')) return attachAnswer(last, call);
  // Before 0.16 a resume builds a second runtime session beside the open one.
  const { stored, rows, title, startedAt } = last;
  const again = openSession(hub, { stored, rows, title, startedAt });
  if (!last.open) hub.world.sessions.splice(hub.world.sessions.indexOf(last), 1);
  return attachAnswer(again, call);
};

const close = ({ hub, params }: Call): Reply => {
  const session = findOpen(hub, params['session_id']);
  const messages = since(hub.world.release, '0.22.2') ? { messages: [] } : {};
  if (session === undefined) return result({ closed: false, ...messages });
  session.turn?.stop.abort();
  session.open = false;
  if (session.rows.length === 0) hub.world.sessions.splice(hub.world.sessions.indexOf(session), 1);
  return result({ closed: true, ...messages });
};

const submit = (session: Session, { hub, connection, params }: Call): Reply => {
  const { text } = params;
  const prompt = typeof text === 'string' ? text : JSON.stringify(text ?? '');
  attach(hub, session, connection);
  const { turn } = session;
  if (turn === null) {
    // After the answer, as a new session does it: the agent is built first.
    setTimeout(() => void runTurn(hub, session, prompt), 5);
    const rowId = (session.rows.at(-1)?.id ?? 0) + 1;
    return result({
      status: 'streaming',
      ...(since(hub.world.release, '0.22.2') && { user_row_id: rowId }),
    });
  }
  if (!since(hub.world.release, '0.18.2')) return rpcError(4009, 'session busy');
  const queues = !since(hub.world.release, '0.20.0');
  if (queues) turn.queued = prompt;
  else turn.next = prompt;
  turn.stop.abort();
  return result({ status: queues ? 'queued' : 'redirected' });
};

/** An idle session of an engine without provider has no agent that could be interrupted. */
const noProvider = (release: Release): string =>
  release.serverRequests
    ? 'Hermes is not connected to any AI provider yet. Run `hermes model` to pick one (the free Nous tier needs no API key), type `/login` in chat, or add a key with `hermes auth add <provider>`. (Advanced: put an API key such as OPENROUTER_API_KEY in ~/.hermes/.env.)'
    : "No inference provider configured. Run 'hermes model' to choose a provider and model, or set an API key (OPENROUTER_API_KEY, OPENAI_API_KEY, etc.) in ~/.hermes/.env.";

const interrupt = (session: Session, { hub }: Call): Reply => {
  if (session.turn !== null) session.turn.stop.abort();
  else if (!since(hub.world.release, '0.22.2')) return rpcError(5032, noProvider(hub.world.release));
  return result({ status: 'interrupted' });
};

const eventsSince = ({ hub, params }: Call): Reply => {
  const ring = hub.rings.get(String(params['session_id'])) ?? [];
  const seen = typeof params['last_seen'] === 'number' ? params['last_seen'] : 0;
  const events = ring.filter((event) => (event.seq ?? 0) > seen);
  return result({
    events,
    latest_seq: ring.at(-1)?.seq ?? 0,
    truncated: events.length > 0 && (events[0]?.seq ?? 0) > seen + 1,
    count: events.length,
    epoch: hub.world.epoch,
    ...(hub.world.release.serverRequests && { open_requests: [] }),
  });
};

const activeRow = (call: Call, session: Session): Record<string, unknown> => ({
  current: false,
  id: session.id,
  last_active: session.lastActive / 1000,
  message_count: session.rows.length,
  model: lazyInfo(call.hub.world)['model'],
  preview: session.rows.at(-1)?.content.slice(0, 60) ?? '',
  session_key: session.stored,
  started_at: session.startedAt / 1000,
  status: session.turn !== null ? 'working' : session.rows.length === 0 ? 'starting' : 'idle',
  title: session.title,
});

const title = (session: Session, { hub, params }: Call): Reply => {
  if (typeof params['title'] === 'string') {
    session.title = params['title'];
    emit(hub, session, 'session.info', fullInfo(hub.world, session.turn !== null));
  }
  return result({ title: session.title, session_key: session.stored });
};

export const sessionMethods: readonly Method[] = [
  {
    name: 'session.create',
    params:
      'profile cols source cwd cwd_explicit messages parent_session_id title model provider reasoning_effort fast service_tier close_on_disconnect hidden room_plumbing follow_profile_config idempotency_key',
    answer: create,
  },
  {
    name: 'session.resume',
    params:
      'session_id profile cols source lazy defer_history omit_messages eager_build close_on_disconnect inline_images',
    answer: resume,
  },
  {
    name: 'session.activate',
    from: '0.15.2',
    params: 'session_id profile cols omit_messages',
    answer: inSession(attachAnswer),
  },
  { name: 'session.close', params: 'session_id profile', answer: close },
  {
    name: 'prompt.submit',
    params:
      'session_id profile text display_kind interrupted queued surface voice_context voice_turn title_preview truncate_before_user_ordinal truncate_before_row_id truncate_before_message_id confirm_truncate confirm_empty_truncate confirm_deep_truncate rebind_survivor_row_ids hosted_task turn_author hosted_terminal_callback',
    answer: inSession(submit),
  },
  {
    name: 'session.interrupt',
    params: 'session_id profile expected_hosted_task_id',
    answer: inSession(interrupt),
  },
  {
    name: 'session.steer',
    params: 'session_id profile text',
    answer: inSession((session, { params }) =>
      typeof params['text'] === 'string' && params['text'] !== ''
        ? result({ status: session.turn === null ? 'idle' : 'queued', text: params['text'] })
        : rpcError(4002, 'text is required'),
    ),
  },
  { name: 'session.title', params: 'session_id profile title', answer: inSession(title) },
  {
    name: 'session.usage',
    params: 'session_id profile',
    answer: inSession((session, { hub }) => result(usageOf(hub.world, session))),
  },
  {
    name: 'session.history',
    params: 'session_id profile',
    answer: inSession((session, { hub }) =>
      result({ count: session.rows.length, messages: shownMessages(hub.world, session.rows) }),
    ),
  },
  {
    name: 'session.active_list',
    from: '0.15.2',
    params: 'profile current_session_id',
    answer: (call) =>
      result({
        sessions: call.hub.world.sessions
          .filter(({ open }) => open)
          .map((session) => activeRow(call, session)),
      }),
  },
  {
    name: 'session.events.since',
    from: '0.21.0',
    params: 'session_id profile last_seen',
    answer: eventsSince,
  },
  {
    name: 'file.attach',
    from: '0.17.0',
    params: 'session_id profile path data_url name',
    answer: inSession(attachFile),
  },
  {
    name: 'image.attach',
    params: 'session_id profile path',
    answer: inSession(attachImage),
  },
  {
    name: 'image.attach_bytes',
    from: '0.17.0',
    params: 'session_id profile content_base64 data filename ext',
    answer: inSession(attachImage),
  },
  {
    name: 'config.set',
    params: 'session_id profile key value confirm_expensive_model scope cwd',
    answer: inSession(setConfig),
  },
];
