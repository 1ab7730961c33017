import {
  closeBrowser,
  describeInBrowser,
  isTooWide,
  keyboardGaps,
  openBrowser,
  screenshot,
  THEMES,
  TIMEOUT_MS,
  violations,
  visit,
  WIDTHS,
  waitUntilLoaded,
} from './support/browser.js';
import { openWorld, type World } from './support/world.js';

jest.setTimeout(5 * TIMEOUT_MS);

/** Every page, and words that appear only when its data has been loaded. */
const PAGES: readonly (readonly [name: string, path: (world: World) => string, shows: string | RegExp])[] = [
  ['overview', () => '', 'Health of every part'],
  ['sessions', () => '/sessions', 'support'],
  ['session', ({ sessionId }) => `/sessions/${sessionId}`, 'tools__echo'],
  ['waiting-session', ({ askingId }) => `/sessions/${askingId}`, 'Allow'],
  ['approvals', () => '/approvals', 'tools__erase'],
  ['agents', () => '/agents', 'Answers customers'],
  ['usage', () => '/usage', 'support'],
  ['audit', () => '/audit', 'config.changed'],
  ['channels', () => '/channels', 'helpdesk'],
  ['hooks', () => '/hooks', 'session.created'],
  ['servers', () => '/servers', 'broken'],
  ['plugins', () => '/plugins', 'measures'],
  ['skills', () => '/skills', 'Purpose'],
  ['logs', () => '/logs', /^(info|warn|error)$/],
  ['config', () => '/config', 'agent.max_turns'],
  ['tokens', () => '/tokens', 'everything'],
];
const VIEWS = THEMES.flatMap((theme) => WIDTHS.map((width) => ({ theme, width })));

describeInBrowser('every page on a gateway with real data', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    await openBrowser();
  });
  afterAll(async () => {
    await closeBrowser();
    await world.stop();
  });

  describe.each(VIEWS)('in $theme at $width pixels', ({ theme, width }) => {
    test.each(PAGES)(
      '%s: 0 violations by axe (WCAG 2.2 AA), 0 console errors, 0 requests to other origins',
      async (name, path, shows) => {
        const { page, faults, close } = await visit(
          world.url(path(world)),
          { theme, width },
          world.gateway.token,
        );
        try {
          await page.locator('main').getByText(shows).filter({ visible: true }).first().waitFor();
          await waitUntilLoaded(page);
          await screenshot(page, `${name}-${theme}-${width}`);
          expect(await violations(page)).toEqual([]);
          expect([name, await isTooWide(page)]).toEqual([name, false]);
          expect(faults).toEqual([]);
        } finally {
          await close();
        }
      },
    );
  });

  test.each(PAGES)(
    '%s: the Tab key reaches every control, and people see where it is',
    async (name, path, shows) => {
      const view = { theme: 'light', width: 1280 } as const;
      const { page, close } = await visit(world.url(path(world)), view, world.gateway.token);
      try {
        await page.locator('main').getByText(shows).filter({ visible: true }).first().waitFor();
        await waitUntilLoaded(page);
        expect([name, await keyboardGaps(page)]).toEqual([name, { notReached: [], notSeen: [] }]);
      } finally {
        await close();
      }
    },
  );
});
