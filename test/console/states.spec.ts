import type { Page, Route } from 'playwright-core';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  closeBrowser,
  describeInBrowser,
  isTooWide,
  openBrowser,
  TIMEOUT_MS,
  violations,
  visit,
  waitUntilLoaded,
} from './support/browser.js';

jest.setTimeout(5 * TIMEOUT_MS);

/** Every page, and what it shows while there is nothing yet. */
const PAGES: readonly (readonly [path: string, empty: string])[] = [
  ['', 'Nothing: no call waits for approval, and nothing is failing.'],
  ['/sessions', 'No sessions yet'],
  ['/approvals', 'Nothing waits for you'],
  ['/agents', 'default'],
  ['/usage', 'No turns in this period'],
  ['/audit', 'No matching entries'],
  ['/channels', 'api'],
  ['/hooks', 'No webhooks'],
  ['/servers', 'No tool servers'],
  ['/plugins', 'No plugins'],
  ['/skills', 'No skills'],
  ['/logs', 'No matching lines'],
  ['/config', 'No changes at run time'],
  ['/tokens', 'test'],
];
const PHONE = { theme: 'dark', width: 390 } as const;
/** The request that tells the page who is signed in. */
const WHO = /\/admin\/v1\/me$/;
const DATA = /\/(admin|api)\/v1\//;

describeInBrowser('where there is nothing to show', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      env: {
        GATEWAY__SKILLS__BUILTIN: 'false',
        GATEWAY__SKILLS__PLUGINS: 'false',
      },
    });
    await openBrowser();
  });
  afterAll(async () => {
    await closeBrowser();
    await gateway.stop();
  });

  const open = (path: string, token: string) =>
    visit(`http://127.0.0.1:${gateway.started.ports.b}/console${path}`, PHONE, token);

  /** Answers the page's requests for data with `answer`. */
  const answering = async (page: Page, answer: (route: Route) => Promise<void>): Promise<void> => {
    await page.route(DATA, (route) => (WHO.test(route.request().url()) ? route.continue() : answer(route)));
  };

  test.each(PAGES)('%s/ says that there is nothing yet', async (path, empty) => {
    // Log lines and audit rows exist from the start, so these pages search for one that does not.
    const query = path === '/logs' ? '?find=no-such-line' : path === '/audit' ? '?actor=nobody' : '';
    const { page, faults, close } = await open(path + query, gateway.token);
    try {
      await page.locator('main').getByText(empty).first().waitFor();
      await waitUntilLoaded(page);
      expect([await violations(page), await isTooWide(page), faults]).toEqual([[], false, []]);
    } finally {
      await close();
    }
  });

  test.each(PAGES)('%s/ is not for a token without its scope', async (path) => {
    const scopes = path === '/approvals' ? (['sessions:read'] as const) : (['approvals:read'] as const);
    const { page, faults, close } = await open(
      path === '' ? '/config' : path,
      await gateway.mint({ scopes }),
    );
    try {
      await page.getByText('Not for this token').waitFor();
      expect([await violations(page), faults]).toEqual([[], []]);
    } finally {
      await close();
    }
  });

  test.each(PAGES)('%s/ says that it waits, then what went wrong, and tries again', async (path) => {
    const { page, close } = await open('/nowhere', gateway.token);
    try {
      let isAway = true;
      const held: (() => void)[] = [];
      await page.getByText('There is no such page').waitFor();
      await answering(page, async (route) => {
        if (!isAway) return route.continue();
        await new Promise<void>((resolve) => held.push(resolve));
        const error = { code: 'internal_error', message: 'It broke on purpose.' };
        return route.fulfill({ status: 500, json: { error } });
      });
      await page.goto(`http://127.0.0.1:${gateway.started.ports.b}/console${path}`);
      await page.locator('main .spinner').first().waitFor();
      expect(await violations(page)).toEqual([]);
      const release = setInterval(() => {
        for (const go of held.splice(0)) go();
      }, 50);
      await page.getByText('It broke on purpose.').first().waitFor();
      expect(await violations(page)).toEqual([]);
      isAway = false;
      const again = page.locator('main').getByRole('button', { name: 'Try again' });
      // Most pages refresh by themselves.
      await again
        .first()
        .click({ timeout: 15_000 })
        .catch(() => undefined);
      await waitUntilLoaded(page);
      await page.getByText('It broke on purpose.').first().waitFor({ state: 'detached' });
      clearInterval(release);
    } finally {
      await close();
    }
  });

  describe('a session', () => {
    const url = (path: string): string => `http://127.0.0.1:${gateway.started.ports.b}/console${path}`;
    let id: string;
    beforeAll(async () => {
      id = (await gateway.b.post<{ id: string }>('/sessions', { user_id: 'grace' })).body.id;
    });

    test('in which nothing was said says so', async () => {
      const { page, faults, close } = await open(`/sessions/${id}`, gateway.token);
      try {
        await page.getByText('Nothing was said yet. Write the first message below.').waitFor();
        await waitUntilLoaded(page);
        expect([await violations(page), await isTooWide(page), faults]).toEqual([[], false, []]);
      } finally {
        await close();
      }
    });

    test('says that it waits, then what went wrong, and tries again', async () => {
      const { page, close } = await open('/nowhere', gateway.token);
      try {
        let isAway = true;
        await page.getByText('There is no such page').waitFor();
        let release: () => void = () => undefined;
        const held = new Promise<void>((resolve) => {
          release = resolve;
        });
        await answering(page, async (route) => {
          if (!isAway) return route.continue();
          await held;
          return route.fulfill({
            status: 500,
            json: { error: { code: 'internal_error', message: 'It broke on purpose.' } },
          });
        });
        await page.goto(url(`/sessions/${id}`));
        await page.locator('main .spinner').first().waitFor();
        await page.getByRole('heading', { name: 'Session', level: 1 }).waitFor();
        expect(await violations(page)).toEqual([]);
        release();
        await page.getByText('It broke on purpose.').first().waitFor();
        expect(await violations(page)).toEqual([]);
        isAway = false;
        await page.locator('main').getByRole('button', { name: 'Try again' }).first().click();
        await page.getByText('Nothing was said yet').waitFor();
      } finally {
        await close();
      }
    });

    test('that there is not, or is of somebody else, is not found', async () => {
      const stranger = await gateway.mint({ name: 'stranger', scopes: ['sessions:read'], user: 'ada' });
      for (const [path, token] of [
        ['/sessions/sess_00000000000000000000000000', gateway.token],
        [`/sessions/${id}`, stranger],
      ] as const) {
        const { page, close } = await open(path, token);
        try {
          await page.locator('main [role=alert]').waitFor();
          expect(await page.getByLabel('Message', { exact: true }).count()).toBe(0);
          expect(await violations(page)).toEqual([]);
        } finally {
          await close();
        }
      }
    });

    test('may be read with a token that may not write, which is told so and is offered nothing else', async () => {
      const reader = await gateway.mint({ name: 'reader', scopes: ['sessions:read'] });
      const { page, faults, close } = await open(`/sessions/${id}`, reader);
      try {
        await page.getByText('This token may read, but not write.').waitFor();
        expect(await page.locator('main').getByRole('button').allTextContents()).toEqual([]);
        expect([await violations(page), faults]).toEqual([[], []]);
      } finally {
        await close();
      }
    });
  });
});
