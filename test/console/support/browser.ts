import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The system's Chromium; CHROMIUM_PATH names another one. */
const CHROMIUM = [process.env['CHROMIUM_PATH'] ?? '', ...PLACES].find(
  (path) => path !== '' && existsSync(path),
);

/** Where screenshots are kept for review, outside the repository. */
const SCREENSHOTS = process.env['CONSOLE_SCREENSHOTS'] ?? join(tmpdir(), 'agent-gateway-console');

/** `describe`, or a skipped one where there is no browser. */
export const describeInBrowser = CHROMIUM === undefined ? describe.skip : describe;
if (CHROMIUM === undefined)
  process.stderr.write(
    'Passed over: no Chromium is installed. Install it (apt-get install chromium) or set CHROMIUM_PATH.\n',
  );

export const THEMES = ['light', 'dark'] as const;
export const WIDTHS = [1280, 390] as const;

export interface View {
  readonly theme: (typeof THEMES)[number];
  readonly width: number;
}

/** How long anything may take before it counts as broken; long, because the machine may be busy. */
export const TIMEOUT_MS = 120_000;

/** A page in a new browser, and every fault it had. */
export interface Visit {
  readonly page: Page;
  /** Console errors, uncaught errors, and requests to other origins. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

let browser: Browser | undefined;

export async function openBrowser(): Promise<void> {
  if (CHROMIUM === undefined) return;
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    timeout: TIMEOUT_MS,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
}

/**
 * @param url an address of the console; only requests to its origin are allowed
 * @param first a script that runs before any of the page's
 */
export async function visit(
  url: string,
  { theme, width }: View,
  token?: string,
  first?: string,
): Promise<Visit> {
  if (browser === undefined) throw new Error('No browser is open.');
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height: width < 600 ? 844 : 860 },
    hasTouch: width < 600,
    reducedMotion: 'reduce',
  });
  if (token !== undefined) await signIn(context, token);
  if (first !== undefined) await context.addInitScript({ content: first });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol !== 'data:' && asked.origin !== origin)
      faults.push(`foreign request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults, close: () => context.close() };
}

/** Stores the token as the console does after a person has pasted it. */
async function signIn(context: BrowserContext, token: string): Promise<void> {
  const stored = JSON.stringify(JSON.stringify({ token }));
  const name = JSON.stringify('agent-gateway.console');
  await context.addInitScript({
    content: `if (sessionStorage.getItem(${name}) === null) sessionStorage.setItem(${name}, ${stored});`,
  });
}

let axe: Promise<string> | undefined;

/** Violations of WCAG 2.2 AA that axe finds: rules, and the elements that break them. */
export async function violations(page: Page): Promise<string[]> {
  axe ??= readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(await axe);
  return page.evaluate(async () => {
    interface Found {
      violations: { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }[];
    }
    const { axe: engine } = globalThis as unknown as { axe: { run(options: object): Promise<Found> } };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const found = await engine.run({ runOnly: { type: 'tag', values: tags } });
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${String(target)} ${failureSummary ?? ''}`),
    );
  });
}

export async function screenshot(page: Page, name: string): Promise<void> {
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/**
 * Records in the page which controls the Tab key must still reach, and on which controls the focus is invisible. A
 * group of radio buttons is one stop, so radio buttons are left out. Elements that were removed meanwhile need not be
 * reached.
 */
const WATCH_FOCUS = `{
  const nameOf = (one) => one.tagName + ' ' + one.textContent.trim().slice(0, 60);
  const controls = 'a[href], button, input:not([type=radio]), select, textarea, summary, [role=button], [role=tab], [tabindex]';
  const unmet = new Set([...document.querySelectorAll(controls)].filter(
    (one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility()));
  const unseen = new Set();
  document.addEventListener('focusin', ({ target }) => {
    unmet.delete(target);
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(target);
    if ((outlineStyle === 'none' || outlineWidth === '0px') && boxShadow === 'none') unseen.add(nameOf(target));
  });
  globalThis.notReached = () => [...unmet].filter((one) => one.isConnected).map(nameOf);
  globalThis.focusNotSeen = () => [...unseen];
  if (unmet.size === 0) throw new Error('The page has no controls.');
  document.activeElement?.blur();
}`;
const MOST_PRESSES = 600;

/**
 * Presses Tab through the whole page.
 * @returns the controls it does not reach, and those on which the focus is invisible
 */
export async function keyboardGaps(page: Page): Promise<{ notReached: string[]; notSeen: string[] }> {
  await page.evaluate(WATCH_FOCUS);
  const notReached = () => page.evaluate<string[]>('notReached()');
  for (let presses = 0; presses < MOST_PRESSES && (await notReached()).length > 0; presses += 1) {
    await page.keyboard.press('Tab');
  }
  return { notReached: await notReached(), notSeen: await page.evaluate<string[]>('focusNotSeen()') };
}

/** Waits until the page is rendered and everything that it made the browser load has arrived. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('h1').waitFor();
  await page.locator('.spinner').first().waitFor({ state: 'detached' });
  // Two frames, then an image: earlier requests have finished or failed by then.
  await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const image = new Image();
    image.onload = image.onerror = resolve;
    image.src = 'data:,';
  })))`);
}

/** Whether the page is wider than the window, so that one would have to scroll sideways on a phone. */
export async function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth + 1');
}
