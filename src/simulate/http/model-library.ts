import { randomBytes } from 'node:crypto';
import type { LibraryRow, World } from '../world.ts';
import { detail, json } from './answer.ts';
import type { Answer } from './answer.ts';

/** `/api/model/library` as clients expect it: a list of saved models, kept in memory here. */

const fields = (body: unknown): Record<string, string> => {
  const entries = Object.entries(typeof body === 'object' && body !== null ? body : {});
  return Object.fromEntries(
    entries
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .map(([k, v]) => [k, v.trim()]),
  );
};

const sameModel = (a: LibraryRow, b: LibraryRow): boolean =>
  a.provider.toLowerCase() === b.provider.toLowerCase() &&
  a.model.toLowerCase() === b.model.toLowerCase() &&
  a.baseUrl.replace(/\/+$/, '') === b.baseUrl.replace(/\/+$/, '');

export const listModels = (rows: LibraryRow[], world: World): Answer => {
  const { provider, model } = world.model;
  const active = {
    id: `remote:active:${provider}:${model}`,
    name: model,
    provider,
    model,
    baseUrl: '',
    createdAt: 0,
  };
  const models = model === '' ? rows : [active, ...rows.filter((row) => !sameModel(row, active))];
  return json(200, { models });
};

export const addModel = (rows: LibraryRow[], body: unknown): Answer => {
  const { provider = '', model = '', name, baseUrl, base_url: otherName } = fields(body);
  if (provider === '' || model === '') return detail(400, 'provider and model required');
  const row: LibraryRow = {
    id: `remote:library:${randomBytes(8).toString('hex')}`,
    name: name ?? model.slice(model.lastIndexOf('/') + 1),
    provider,
    model,
    baseUrl: baseUrl ?? otherName ?? '',
    createdAt: Date.now(),
  };
  const known = rows.find((other) => sameModel(other, row));
  if (known === undefined) rows.push(row);
  return json(200, known ?? row);
};

export const changeModel = (rows: LibraryRow[], id: string, body: unknown): Answer => {
  const row = rows.find((other) => other.id === id);
  if (row === undefined) return detail(404, 'model not found');
  const { name, provider, model, baseUrl } = fields(body);
  if (provider === '' || model === '') return detail(400, 'provider and model required');
  Object.assign(row, {
    name: name ?? row.name,
    provider: provider ?? row.provider,
    model: model ?? row.model,
    baseUrl: baseUrl ?? row.baseUrl,
  });
  return json(200, { ok: true, model: row });
};

export const removeModel = (rows: LibraryRow[], id: string): Answer => {
  const at = rows.findIndex((other) => other.id === id);
  if (at < 0) return detail(404, 'model not found');
  rows.splice(at, 1);
  return json(200, { ok: true });
};
