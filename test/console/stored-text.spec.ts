import type { Page } from 'playwright-core';
import {
  closeBrowser,
  describeInBrowser,
  openBrowser,
  PATIENCE_MS,
  screenshot,
  settled,
  visit,
} from './support/browser.js';
import { ALL, ONE_LINE } from './support/corpus.js';
import { openWorld, type World } from './support/world.js';

jest.setTimeout(5 * PATIENCE_MS);

const VIEW = { theme: 'light', width: 1280 } as const;
const PAGES: readonly ((world: World) => string)[] = [
  () => '',
  () => '/sessions',
  () => `/sessions?query=${encodeURIComponent(ONE_LINE)}`,
  ({ sessionId }) => `/sessions/${sessionId}`,
  ({ askingId }) => `/sessions/${askingId}`,
  () => '/approvals',
  () => '/agents',
  () => '/usage',
  () => '/usage?by=user',
  () => '/audit',
  () => '/channels',
  () => '/hooks',
  () => '/servers',
  () => '/logs?level=trace',
  () => '/config',
  () => '/tokens',
  () => `/${encodeURIComponent('<img src=x onerror=window.hit=1>')}`,
];

/** Opens what is folded, so that what is inside is drawn too. */
async function unfold(page: Page): Promise<void> {
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
}

/** What of the page must not be there: elements that only markup of the data could have made, and addresses that run. */
function intruders(page: Page): Promise<string[]> {
  return page.evaluate(`
    [...document.querySelectorAll('#root script, #root img, #root iframe, #root object, #root meta, #root b, #root style'),
     ...[...document.querySelectorAll('#root a')].filter(({ href }) => !/^(https?:|mailto:)/.test(href)),
     ...[...document.querySelectorAll('#root *')].filter((one) => one.getAttributeNames().some((name) => name.startsWith('on')))]
      .map(({ outerHTML }) => outerHTML.slice(0, 200))`);
}

describeInBrowser('texts that users, models, tools and channels write, stored everywhere', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(ALL);
    const { gateway } = world;
    await gateway.b.post('/sessions', {
      user_id: ONE_LINE.slice(0, 200).replaceAll('|', ''),
      metadata: { [ONE_LINE]: ONE_LINE },
    });
    await gateway.mint({ name: '<img src=x onerror=window.hit=1>' });
    await gateway.b.post('/hooks', {
      url: `${world.receiver.url()}?<script>window.hit=1</script>`,
      events: ['*'],
    });
    await gateway.b.patch('/config', {
      agents: { support: { description: ALL.slice(0, 900), system_prompt: ALL } },
    });
    await openBrowser();
  });
  afterAll(async () => {
    await closeBrowser();
    await world.stop();
  });

  test.each(PAGES.map((path) => [path]))('0 executed (%#)', async (path) => {
    const { page, faults, close } = await visit(world.url(path(world)), VIEW, world.gateway.token);
    try {
      await settled(page);
      await unfold(page);
      await settled(page);
      expect(await intruders(page)).toEqual([]);
      expect(await page.evaluate('globalThis.hit')).toBeUndefined();
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('they are shown as they were written', async () => {
    const { page, close } = await visit(world.url(`/sessions/${world.sessionId}`), VIEW, world.gateway.token);
    try {
      await page.getByText('<script>window.hit=1</script>').first().waitFor();
      await screenshot(page, 'stored-text');
      expect(await page.evaluate('globalThis.hit')).toBeUndefined();
    } finally {
      await close();
    }
  });
});
