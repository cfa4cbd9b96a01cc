import { describe, expect, test } from 'vitest';
import { completionErrorText, reduce } from '../../src/turn/index.ts';

describe('a completed text that is nothing but a failure', () => {
  test.each([
    'API call failed after 3 retries: HTTP 500: overloaded',
    'HTTP 401: Incorrect API key provided: stub',
    "Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}",
    'Provider error: connection reset',
    'Gateway error: upstream timed out',
    'Missing OpenAI API key',
    'Incorrect API key provided: sk-…',
    'Unauthorized',
  ])('%s', (text) => expect(completionErrorText(text)).toBe(text));
});

describe('answers about failures stay answers', () => {
  test.each([
    'HTTP 404 means that the page was not found.',
    'The server answered HTTP 500: have a look at its log.',
    'You are unauthorized when the token is missing.',
    'A missing API key is the usual reason; set OPENAI_API_KEY and try again.',
    'If you see "Provider error: timeout", raise the limit.',
    'API calls fail after 3 retries when the network is down.',
    'HTTP 401: what it means\n\nThe client did not authenticate.',
    '```\nHTTP 500: boom\n```',
    'Forbidden fruit is a metaphor.',
    '',
  ])('%s', (text) => expect(completionErrorText(text)).toBeNull());
});

test('off by default, an outcome of its own when asked for', () => {
  const event = (type: string, payload?: unknown) => ({
    dir: 'in',
    frame: { method: 'event', params: { type, session_id: 's', payload } },
  });
  const frames = [
    { dir: 'out', frame: { id: 1, method: 'session.create', params: {} } },
    { dir: 'in', frame: { id: 1, result: { session_id: 's' } } },
    { dir: 'out', frame: { id: 2, method: 'prompt.submit', params: { session_id: 's', text: 'hi' } } },
    event('message.start'),
    event('message.complete', { status: 'complete', text: 'HTTP 401: Incorrect API key provided' }),
  ];
  expect(reduce(frames).turns[0]?.outcome).toBe('completed');
  const [turn] = reduce(frames, { detectCompletionErrors: true }).turns;
  expect(turn).toMatchObject({ outcome: 'error', final: null, confidence: 'likely' });
  expect(turn?.parts).toEqual([{ type: 'error', error: 'HTTP 401: Incorrect API key provided' }]);
});
