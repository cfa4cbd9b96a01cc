import { since } from '../release/since.ts';
import type { Release } from '../release/types.ts';
import type { Session } from '../world.ts';
import type { Call, Reply } from './reply.ts';
import { result, rpcError, textOf } from './reply.ts';

/** Files that a client attaches before a prompt, and what the engine makes of them in the stored prompt. */

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString();

const folderOf = (release: Release, home: string): string =>
  since(release, '0.21.4') ? `${home}/attachments` : '.hermes/desktop-attachments';

export const attachFile = (session: Session, { hub, params }: Call): Reply => {
  const { release, home } = hub.world;
  const given = textOf(params, 'path');
  const name = textOf(params, 'name') || given.split('/').at(-1) || '';
  if (name === '') return rpcError(4002, 'path or data_url is required');
  const place = `${folderOf(release, home)}/${name}`;
  const content = decoded(textOf(params, 'data_url').split(',')[1] ?? '');
  session.files.push({ reference: `@file:${place}`, content });
  return result({
    attached: true,
    name,
    path: place,
    ref_path: place,
    ref_text: `@file:${place}`,
    uploaded: true,
  });
};

export const attachImage = (session: Session, { hub, params }: Call): Reply => {
  const name = textOf(params, 'filename') || textOf(params, 'path').split('/').at(-1) || 'upload.png';
  const path = textOf(params, 'path') || `${hub.world.home}/images/${name}`;
  session.images.push(path);
  return result({
    attached: true,
    path,
    count: session.images.length,
    remainder: '',
    text: `[User attached image: ${name}]`,
    name,
  });
};

const tokensOf = (content: string): number => Math.max(1, Math.floor(content.length / 4));

const withFiles = (release: Release, session: Session, prompt: string): string => {
  const named = session.files.filter(({ reference }) => prompt.includes(reference));
  if (named.length === 0) return prompt;
  const kept = since(release, '0.20.0')
    ? prompt
    : named.reduce((rest, { reference }) => rest.replace(reference, ''), prompt).trim();
  const shown = named.map(
    ({ reference, content }) => `📄 ${reference} (${tokensOf(content)} tokens)\n\`\`\`\n${content}\n\`\`\``,
  );
  return `${kept}\n\n--- Attached Context ---\n\n${shown.join('\n\n')}`;
};

const seen = (path: string): string =>
  `[The user attached an image:\nA small test image.]\n[You can examine it with vision_analyze using image_url: ${path}]\n\n`;

/** The prompt as it is stored: with what the attached files hold. They belong to this prompt only. */
export const withAttached = (release: Release, session: Session, prompt: string): string => {
  const filled = withFiles(release, session, prompt);
  const images = session.images.splice(0);
  session.files = [];
  return since(release, '0.20.0')
    ? [filled, ...images.map((path) => `@image:${path}`)].join('\n')
    : [...images.map(seen), filled].join('');
};
