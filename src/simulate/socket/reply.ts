import type { Connection, Hub } from './hub.ts';

/** What a method answers: a result, or an error with its code. */
export type Reply = { result: unknown } | { error: { code: number; message: string } };

export const result = (value: unknown): Reply => ({ result: value });
export const rpcError = (code: number, message: string): Reply => ({ error: { code, message } });

export interface Call {
  hub: Hub;
  connection: Connection;
  params: Record<string, unknown>;
}

/** A parameter that is a text; everything else counts as an empty one. */
export const textOf = (params: Call['params'], name: string): string => {
  const value = params[name];
  return typeof value === 'string' ? value : '';
};

/** One JSON-RPC method. */
export interface Method {
  name: string;
  /** First and last release that have it; always, where absent. */
  from?: string;
  until?: string;
  /** Parameters that releases with server requests know; others are refused there. */
  params: string;
  answer: (call: Call) => Reply;
}
