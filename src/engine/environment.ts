/** Root of the environment that a tree lies in: of a checkout itself, of site-packages its prefix. */
export const environmentOf = (install: string): string =>
  /^(.*)\/lib\/python[^/]*\/site-packages$/.exec(install)?.[1] ?? install;
