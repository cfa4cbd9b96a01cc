import type { Report, Reports } from '../judge/schema.ts';

/** The document itself. JSON escapes what a terminal would obey; characters above U+007F that steer text are escaped here. */
export const json = (document: Report | Reports): string => `${safe(JSON.stringify(document, null, 2))}\n`;

/** One line for each report, then one for the summary of several. */
export function ndjson(document: Report | Reports): string {
  if (document.kind === 'report') return `${safe(JSON.stringify(document))}\n`;
  const { reports, ...rest } = document;
  return [...reports, { ...rest, kind: 'summary' }].map((each) => `${safe(JSON.stringify(each))}\n`).join('');
}

const steering = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** JSON text without characters that steer a terminal; as JSON it says the same. */
export const safe = (text: string): string =>
  text.replaceAll(steering, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
