import type { Locator, Page } from 'playwright-core';
import { ConsoleSignIn } from '../../src/areas/tokens/console-sign-in.service.js';
import { SCOPE_PRESETS } from '../../src/platform/tokens/scopes.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  closeBrowser,
  describeInBrowser,
  openBrowser,
  screenshot,
  TIMEOUT_MS,
  type Visit,
  violations,
  visit,
  waitUntilLoaded,
} from './support/browser.js';
import { accept, openWorld, type World } from './support/world.js';

jest.setTimeout(5 * TIMEOUT_MS);

const VIEW = { theme: 'light', width: 1280 } as const;

/** A call of this tool with this status, in the history or live. */
function callOf(page: Page, tool: string, status: string): Locator {
  return page.locator('.call', { hasText: tool }).getByText(status, { exact: true }).first();
}

/** Waits until the new page has moved the focus to its heading. The Tab key continues from there. */
function focusOn(page: Page, name: string | RegExp): Promise<void> {
  return page.getByRole('heading', { name, level: 1 }).and(page.locator(':focus')).waitFor();
}

/** Presses Tab until the focus is on the element with this name. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press('Tab');
    const focused: string = await page.evaluate(
      "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.labels?.[0]?.textContent ?? document.activeElement?.textContent ?? ''",
    );
    if (name.test(focused.trim())) return;
  }
  throw new Error(`The Tab key does not lead to ${String(name)}.`);
}

describeInBrowser('a newcomer with no key', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
    await openBrowser();
  });
  afterAll(async () => {
    await closeBrowser();
    await gateway.stop();
  });
  const url = (rest: string): string => `http://127.0.0.1:${gateway.started.ports.b}/console${rest}`;

  test('follows the link of the start, talks to the offline agent and calls a tool by clicking', async () => {
    const code = gateway.started.signInCode ?? '';
    const { page, faults, close } = await visit(url(`#code=${code}`), VIEW);
    try {
      await page.getByRole('link', { name: 'Sessions' }).click();
      expect(page.url()).not.toContain(code);
      await page.getByRole('button', { name: 'New session' }).click();
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await page.getByRole('button', { name: 'Call a tool: remember something' }).click();
      await callOf(page, 'memory_store', 'success').waitFor();
      await page.getByLabel('Message', { exact: true }).fill('What can you do?');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.locator('.message', { hasText: 'No model is configured' }).first().waitFor();
      await screenshot(page, 'newcomer');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Access token').waitFor();
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('a link that was used leads to the sign-in page, which says why and takes a token', async () => {
    const codes = gateway.started.app.get(ConsoleSignIn, { strict: false });
    const code = codes.createCode();
    await codes.exchange(code, true);
    const { page, close } = await visit(url(`#code=${code}`), VIEW);
    try {
      await page.getByText('This sign-in link is not valid here').waitFor();
      await screenshot(page, 'sign-in');
      expect(await violations(page)).toEqual([]);
      await page.getByLabel('Access token').fill(`agw_wrong`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('The token is no longer valid').waitFor();
      await page.getByLabel('Access token').fill(gateway.token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
    } finally {
      await close();
    }
  });
});

describeInBrowser('whoever is on call', () => {
  let world: World;
  let shown: Visit | undefined;
  beforeAll(async () => {
    world = await openWorld();
    await openBrowser();
  });
  afterEach(async () => {
    await shown?.close();
    shown = undefined;
  });
  afterAll(async () => {
    await closeBrowser();
    await world.stop();
  });

  test('signs in, begins a session, writes and ends it with the keyboard only', async () => {
    shown = await visit(world.url(''), VIEW);
    const { page, faults } = shown;
    await tabTo(page, /^Access token/);
    await page.keyboard.type(world.gateway.token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await tabTo(page, /^Sessions$/);
    await page.keyboard.press('Enter');
    await focusOn(page, /^Sessions$/);
    await tabTo(page, /^New session$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New session' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(page, /^Start$/);
    await page.keyboard.press('Enter');
    await focusOn(page, /^Session/);
    await tabTo(page, /^Message$/);
    await page.keyboard.type('/call tools__echo {"text":"by keyboard"}');
    await page.keyboard.press('Enter');
    await callOf(page, 'tools__echo', 'success').waitFor();
    await tabTo(page, /^End session$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(page, /^End session$/);
    await page.keyboard.press('Enter');
    await page.getByText('This session has ended.').waitFor();
    expect(faults).toEqual([]);
  });

  test('decides a call, restarts a channel, makes and revokes a token with the keyboard only', async () => {
    await accept(world.gateway, world.sessionId, '/call tools__erase {"text":"by keyboard"}');
    shown = await visit(world.url('/approvals'), VIEW, world.gateway.token);
    const { page, faults } = shown;
    const press = async (name: RegExp): Promise<void> => {
      await tabTo(page, name);
      await page.keyboard.press('Enter');
    };
    const card = page.locator('.card', { hasText: 'by keyboard' });
    await card.waitFor();
    // The newest one is first.
    await press(/^Deny tools__erase$/);
    await card.waitFor({ state: 'detached' });
    await press(/^Channels$/);
    await focusOn(page, /^Channels$/);
    await press(/^Restart helpdesk$/);
    await page.getByText('Done', { exact: true }).waitFor();
    await press(/^Tokens$/);
    await focusOn(page, /^Tokens$/);
    await press(/^New token$/);
    await page.getByRole('dialog').waitFor();
    await tabTo(page, /^Name/);
    await page.keyboard.type('typed');
    await press(/^Create token$/);
    await page.getByText('it is not shown again').waitFor();
    await press(/^I have copied it$/);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await press(/^Revoke typed$/);
    await page.getByRole('dialog').waitFor();
    await press(/^Revoke token$/);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /typed/ }).getByText('revoked', { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test('sees a call that waits in the session that is open, and allows it there', async () => {
    shown = await visit(world.url(`/sessions/${world.askingId}`), VIEW, world.gateway.token);
    const { page, faults } = shown;
    await page.getByRole('button', { name: 'Allow tools__erase' }).click();
    await callOf(page, 'tools__erase', 'success').waitFor();
    expect(faults).toEqual([]);
  });

  test('watches a turn of somebody else live, and cancels it', async () => {
    shown = await visit(world.url(`/sessions/${world.sessionId}`), VIEW, world.gateway.token);
    const { page } = shown;
    await page.getByText('tools__echo').first().waitFor();
    await accept(world.gateway, world.sessionId, '/call tools__hang {}');
    await page.getByRole('button', { name: 'Allow tools__hang' }).click();
    await callOf(page, 'tools__hang', 'allowed').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('cancelled').first().waitFor();
  });

  test('with a token that may only read sessions is offered nothing else, and told why elsewhere', async () => {
    const token = await world.gateway.mint({ name: 'reader', scopes: ['sessions:read'], user: 'ada' });
    shown = await visit(world.url(''), VIEW, token);
    const { page, faults } = shown;
    await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
    expect(await page.locator('.nav-link').allTextContents()).toEqual(['Sessions']);
    expect(await page.getByRole('button', { name: 'New session' }).count()).toBe(0);
    await page.goto(world.url('/config'));
    await page.getByText('Not for this token').waitFor();
    await screenshot(page, 'not-allowed');
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('changes a setting and goes back, sends a delivery again, reconnects a server, pauses the log: with the keyboard only', async () => {
    shown = await visit(world.url('/config'), VIEW, world.gateway.token);
    const { page, faults } = shown;
    const press = async (name: RegExp): Promise<void> => {
      await tabTo(page, name);
      await page.keyboard.press('Enter');
    };
    await page.getByRole('cell', { name: 'agent.max_turns' }).first().waitFor();
    await tabTo(page, /^Find$/);
    await page.keyboard.type('agent.max_turns');
    await page.getByRole('cell', { name: 'gateway.host', exact: true }).waitFor({ state: 'detached' });
    await press(/^Change agent\.max_turns$/);
    await page.getByRole('dialog').waitFor();
    await tabTo(page, /^Value/);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('41');
    await press(/^Change$/);
    await page.getByText('Changed: agent.max_turns.').waitFor();
    await press(/^Close$/);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: '41', exact: true }).waitFor();
    await press(/^Webhooks$/);
    await focusOn(page, /^Webhooks$/);
    await page
      .getByRole('button', { name: /^Deliver again/ })
      .first()
      .waitFor();
    const redelivered = page.waitForResponse((answer) => answer.url().endsWith('/redeliver'));
    await press(/^Deliver again/);
    expect((await redelivered).status()).toBe(200);
    await press(/^Tool servers$/);
    await focusOn(page, /^Tool servers$/);
    await page.getByRole('button', { name: 'Reconnect tools' }).waitFor();
    await press(/^Reconnect tools$/);
    await page.getByText('Done', { exact: true }).first().waitFor();
    await press(/^Logs$/);
    await focusOn(page, /^Logs$/);
    await press(/^Pause$/);
    await page.getByText('paused', { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test('with a token that reads all sees every page of it, and no button that changes anything', async () => {
    const token = await world.gateway.mint({ name: 'viewer', scopes: SCOPE_PRESETS.viewer });
    shown = await visit(world.url(''), VIEW, token);
    const { page, faults } = shown;
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const pages = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.nav-link')].map((link) => link.getAttribute('href'))",
    );
    expect(pages).toHaveLength(12);
    const looks = /^(Pause|Try again|Show (more|earlier messages))$/;
    for (const path of [...pages, `/console/sessions/${world.askingId}`]) {
      await page.goto(new URL(path, world.url('')).href);
      await waitUntilLoaded(page);
      const buttons = await page.locator('main').getByRole('button').allTextContents();
      expect([path, buttons.filter((name) => !looks.test(name))]).toEqual([path, []]);
    }
    expect(faults).toEqual([]);
  });
});
