import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

const program = '/usr/bin/chromium';

/** Debian's Chromium. Where it must be (CI), a missing one fails; elsewhere it is said. */
export function haveBrowser(): boolean {
  if (existsSync(program)) return true;
  const say = `${program} is not installed (apt-get install chromium)`;
  if (process.env['HERMES_COMPAT_REQUIRE_BROWSER'] === '1') throw new Error(say);
  console.warn(`tests that look at pages are skipped; ${say}`);
  return false;
}

export async function startBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  // As root there is no sandbox; what is opened are our own pages.
  return chromium.launch({
    executablePath: program,
    args: ['--no-sandbox', '--disable-gpu'],
    timeout: 60_000,
  });
}
