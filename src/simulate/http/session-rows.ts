import { since } from '../release/since.ts';
import type { Row, Session, World } from '../world.ts';

type Json = Record<string, unknown>;

/** A stored message as the release's `/messages` gives it. */
export const messageRow = (world: World, session: Session, row: Row): Json => ({
  id: row.id,
  session_id: session.stored,
  role: row.role,
  content: row.content,
  tool_call_id: row.callId ?? null,
  tool_calls: row.calls ?? null,
  tool_name: row.tool ?? null,
  timestamp: row.at / 1000,
  token_count: null,
  finish_reason: row.role !== 'assistant' ? null : row.calls === undefined ? 'stop' : 'tool_calls',
  reasoning: row.reasoning ?? null,
  reasoning_content: row.reasoning ?? null,
  reasoning_details: null,
  codex_reasoning_items: null,
  codex_message_items: null,
  ...(since(world.release, '0.16.0') && { platform_message_id: null, observed: 0, active: 1 }),
  ...(since(world.release, '0.18.2') && { compacted: 0 }),
  ...(since(world.release, '0.19.0') && { effect_disposition: null, api_content: null }),
  ...(since(world.release, '0.21.0') && { display_kind: row.kind ?? null, display_metadata: null }),
});

/** Body of `GET /api/sessions/{id}/messages`. */
export const messagesBody = (world: World, session: Session): Json => ({
  session_id: session.stored,
  ...(since(world.release, '0.21.4') && { profile: 'default' }),
  messages: session.rows.map((row) => messageRow(world, session, row)),
  ...(since(world.release, '0.19.0') && {
    pagination: { limit: 500, offset: 0, order: 'latest', returned: session.rows.length },
  }),
});

/** A row of `GET /api/sessions`, in the fields that all releases share. */
export const sessionRow = (session: Session): Json => ({
  id: session.stored,
  source: 'tui',
  user_id: null,
  model: 'simulated-1',
  started_at: session.startedAt / 1000,
  ended_at: null,
  end_reason: null,
  message_count: session.rows.length,
  tool_call_count: 0,
  title: session.title === '' ? null : session.title,
  preview: session.rows[0]?.content.slice(0, 60) ?? '',
  last_active: session.lastActive / 1000,
  is_active: Date.now() - session.lastActive < 300_000,
});

/** Sessions that have been stored: those with a message. */
export const storedSessions = (world: World): Session[] =>
  world.sessions.filter((session) => session.rows.length > 0).sort((a, b) => b.startedAt - a.startedAt);
