import type { Report, Reports } from '../judge/schema.ts';
import type { HumanOptions } from './page.ts';

export const formats = ['human', 'json', 'ndjson', 'junit', 'github', 'html'] as const;

export type Format = (typeof formats)[number];

/** One document as text in a format. Each renderer is loaded only when it is used. */
export async function render(
  document: Report | Reports,
  format: Format,
  options: HumanOptions = {},
): Promise<string> {
  switch (format) {
    case 'human': {
      if (document.kind === 'report') return (await import('./human.ts')).human(document, options);
      return (await import('./human-reports.ts')).humanReports(document, options);
    }
    case 'json':
      return (await import('./json.ts')).json(document);
    case 'ndjson':
      return (await import('./json.ts')).ndjson(document);
    case 'junit':
      return (await import('./junit.ts')).junit(document);
    case 'github':
      return (await import('./github.ts')).github(document);
    case 'html':
      return (await import('./html.ts')).html(document);
    default: {
      const never: never = format;
      return never;
    }
  }
}

/** The reports of a document, one or many. */
export const reportsOf = (document: Report | Reports): readonly Report[] =>
  document.kind === 'report' ? [document] : document.reports;
