/** How each of our pages begins. Nothing of it may run or load anything. `title` is HTML already. */
export const htmlHead = (title: string, style: string): string[] => [
  '<!doctype html>',
  '<html lang="en">',
  '<head>',
  '<meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<meta name="color-scheme" content="light dark">',
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
  `<title>${title}</title>`,
  `<style>${style}</style>`,
  '</head>',
];
