import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readClients } from '../../src/judge/client.ts';
import { judge } from '../../src/judge/judge.ts';
import type { Report, Reports } from '../../src/judge/schema.ts';
import type { Facts } from '../../src/probe/schema.ts';
import { html } from '../../src/report/html.ts';
import { summaryOf } from '../../src/report/summary.ts';
import { error, failed, healthy, http, remote, answered, withHttp, withWs } from '../judge/facts.ts';
import { haveBrowser, startBrowser } from '../support/browser.ts';

// The page of a report as a browser shows it: from a file, on a phone and on a desk, light and dark, by keyboard, without a network.

const clients = await readClients();
const report = (name: string, facts: Facts, client = 'minimal'): Report => ({
  ...judge({ ...facts, target: { ...facts.target, name } }, { client, clients }),
  durationMs: 1234,
});

const longWord = 'a'.repeat(180);
const lostUpgrade = withWs(healthy(), answered(404, error(`No such API endpoint: /api/ws/${longWord}`)));
const reports: Report[] = [
  report('good', healthy()),
  report('a name of several words, in the middle of the list', healthy()),
  report(`long-${longWord}.example`, remote(lostUpgrade, `https://${longWord}.example/${longWord}`)),
  report('library', withHttp(healthy(), http('model-library', 404, error('x'))), 'hermes-one'),
  report('gone', {
    ...remote(healthy()),
    status: null,
    http: [failed('status', 'ECONNREFUSED', 'tcp')],
    ws: [],
  }),
  report('<b>markup</b> & "quotes"', {
    ...remote(healthy()),
    status: null,
    http: [failed('status', 'ENOTFOUND', 'dns')],
    ws: [],
  }),
  // Piles of marks, right to left, wide letters, an override, a reset of the terminal, style and script.
  ...[
    `z${'\u0301'.repeat(80)}${'\u0e49'.repeat(80)}`,
    `${'שלום عالم '.repeat(20)}\u202etxt.exe`,
    `${'漢'.repeat(300)}\u001b[2J</style><script>throw 1</script>`,
  ].map((hostile) =>
    report(hostile, withWs(healthy(), answered(404, error(`No such API endpoint: /api/ws${hostile}`)))),
  ),
];
const known: Report[] = reports.map((each) =>
  each.target.name === 'gone'
    ? {
        ...each,
        exitCode: 0,
        findings: each.findings.map((finding) => ({
          ...finding,
          known: { until: '2999-12-31', reason: `the move ${longWord}` },
        })),
      }
    : each,
);
const document: Reports = {
  ...summaryOf(known, 130, 5000),
  shard: { index: 1, count: 4 },
  notRun: ['never', longWord],
  baseline: { expired: ['old: CHAT_DISABLED (until 2020-01-01)'], unused: [] },
};

const usable = haveBrowser();

describe.skipIf(!usable)('the page in a browser', { timeout: 120_000 }, () => {
  let browser: Browser;
  let folder: string;
  let url: string;
  const requests: string[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'page-'));
    const file = join(folder, 'report.html');
    await writeFile(file, html(document));
    url = pathToFileURL(file).href;
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  async function open(width: number, colorScheme: 'light' | 'dark'): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on('request', (request) => requests.push(request.url()));
    const problems: string[] = [];
    page.on('pageerror', (problem) => problems.push(problem.message));
    page.on('console', (message) => problems.push(message.text()));
    await page.goto(url);
    expect(problems).toEqual([]);
    return page;
  }

  const views = [390, 1280].flatMap((width) =>
    (['light', 'dark'] as const).map((scheme) => [width, scheme] as const),
  );

  test.each(views)(
    '%i px, %s: nothing overflows, closed or open, and every text can be read',
    async (width, scheme) => {
      const page = await open(width, scheme);
      expect(await overflowing(page)).toEqual([]);
      await openAll(page);
      expect(await overflowing(page)).toEqual([]);
      expect(await faint(page)).toEqual([]);
      await page.close();
    },
  );

  test('the look for overflow sees one', async () => {
    const page = await open(390, 'light');
    await page.addStyleTag({ content: 'body { overflow-wrap: normal }' });
    expect(await overflowing(page)).not.toEqual([]);
    await page.addStyleTag({ content: '.dim { color: #aaa }' });
    expect(await faint(page)).not.toEqual([]);
    await page.close();
  });

  test('nothing is asked but the file itself', () => {
    expect([...new Set(requests)]).toEqual([url]);
  });

  test('by keyboard: to the filter, through the verdicts, into a target', async () => {
    const page = await open(390, 'light');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('show-all');
    const seen = new Map<string, string[]>();
    for (let step = 0; step < 4; step += 1) {
      await page.keyboard.press('ArrowRight');
      seen.set(await focused(page), await visibleVerdicts(page));
    }
    expect([...seen.keys()]).toEqual([
      'show-incompatible',
      'show-needs-remedy',
      'show-unknown',
      'show-compatible',
    ]);
    for (const [id, verdicts] of seen) expect([...new Set(verdicts)]).toEqual([id.replace('show-', '')]);
    expect([...seen.values()].flat()).toHaveLength(reports.length);
    // Where the focus is can be seen.
    expect(await outlineOf(page, 'label:has(:focus-visible) span')).not.toBe('none');
    await page.keyboard.press('ArrowRight');
    expect(await visibleVerdicts(page)).toHaveLength(reports.length);

    await page.keyboard.press('Tab');
    expect(await outlineOf(page, 'summary:focus-visible')).not.toBe('none');
    const first = page.locator('article').first();
    expect(await first.locator('dl').isVisible()).toBe(false);
    await page.keyboard.press('Enter');
    expect(await first.locator('dl').isVisible()).toBe(true);
    await page.keyboard.press('Enter');
    expect(await first.locator('dl').isVisible()).toBe(false);
    await page.close();
  });

  test('verdicts, severities and checks are words and signs, not colours alone', async () => {
    const page = await open(1280, 'light');
    const signs: Record<string, string> = {
      compatible: '✓',
      'needs-remedy': '⚒',
      incompatible: '✗',
      unknown: '?',
    };
    for (const article of await page.locator('article').all()) {
      const verdict = (await article.getAttribute('data-verdict')) ?? '';
      expect(await article.locator('summary').first().innerText()).toContain(`${signs[verdict]} ${verdict}`);
    }
    await openAll(page);
    for (const title of await page.locator('.finding h2').allInnerTexts())
      expect(title).toMatch(/[✗!i] (error|warning|info)/);
    for (const cell of await page.locator('.checks td:first-child').allInnerTexts())
      expect(cell).toMatch(/^[✓!✗?–] (pass|warn|fail|error|skip)$/);
    await page.close();
  });

  test('markup of others is text, and what is accepted, missing or over is said', async () => {
    const page = await open(1280, 'light');
    expect(await page.locator('article .name').allInnerTexts()).toContain('<b>markup</b> & "quotes"');
    expect(await page.locator('article b').count()).toBe(0);
    await openAll(page);
    const text = await page.locator('body').innerText();
    expect(text).toContain('CONNECTION_REFUSED (known)');
    expect(text).toContain('Accepted, known until 2999-12-31');
    expect(text).toContain('Interrupted: 2 targets were not checked (never,');
    expect(text).toContain('No longer accepted, the day of the baseline is over: old: CHAT_DISABLED');
    expect(text).toContain('This is part 1 of 4');
    await page.close();
  });

  test('a thousand targets open and filter within a second or two', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({ ...(known[index % known.length] as Report) }));
    const file = join(folder, 'many.html');
    await writeFile(file, html(summaryOf(many, 1, 1)));
    const page = await browser.newPage({ viewport: { width: 390, height: 900 } });
    await page.goto(pathToFileURL(file).href);
    const began = performance.now();
    await page.locator('#show-unknown').check({ force: true });
    expect((await visibleVerdicts(page)).every((verdict) => verdict === 'unknown')).toBe(true);
    expect(performance.now() - began).toBeLessThan(10_000);
    await page.close();
  });
});

const openAll = (page: Page): Promise<void> =>
  page.evaluate<void>(`for (const each of document.querySelectorAll('details')) each.open = true`);

/** Elements that stick out of the window or of their own box. */
const overflowing = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('body, body *')].filter((each) => {
    const box = each.getBoundingClientRect();
    if (box.width <= 1 || getComputedStyle(each).clipPath !== 'none') return false;
    const sticksOut = box.right > document.documentElement.clientWidth + 1 || box.left < -1;
    const isScrolled = getComputedStyle(each).display !== 'inline' && each.scrollWidth > each.clientWidth + 1;
    return sticksOut || isScrolled;
  }).map((each) => each.tagName + '.' + each.className).concat(
    document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page itself'] : [],
  )`);

/** Texts whose contrast is below 4.5 to 1 (WCAG 2.2, 1.4.3). */
const faint = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const channels = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([r, g, b]) => {
      const of = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
      return 0.2126 * of(r) + 0.7152 * of(g) + 0.0722 * of(b);
    };
    const backOf = (each) => {
      for (let at = each; at !== null; at = at.parentElement) {
        const back = channels(getComputedStyle(at).backgroundColor);
        if (back.length === 3 || back[3] === 1) return back;
      }
      return [255, 255, 255];
    };
    const texts = [...document.querySelectorAll('body *')].filter((each) =>
      [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '') && each.getClientRects().length > 0);
    return texts.filter((each) => {
      const [a, b] = [light(channels(getComputedStyle(each).color)), light(backOf(each))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
    }).map((each) => each.tagName + '.' + each.className + ' ' + getComputedStyle(each).color);
  })()`);

const focused = (page: Page): Promise<string> => page.evaluate(`document.activeElement?.id ?? ''`);

const visibleVerdicts = (page: Page): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll('article')].filter((each) => each.getClientRects().length > 0).map((each) => each.dataset.verdict)`,
  );

const outlineOf = (page: Page, selector: string): Promise<string> =>
  page.evaluate(`getComputedStyle(document.querySelector('${selector}')).outlineStyle`);
