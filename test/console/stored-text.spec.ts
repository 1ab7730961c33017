import type { Page } from 'playwright-core';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { PluginBench } from '../harness/plugins.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { SkillBench } from '../harness/skills.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';
import {
  closeBrowser,
  describeInBrowser,
  openBrowser,
  screenshot,
  TIMEOUT_MS,
  visit,
  waitUntilLoaded,
} from './support/browser.js';
import { ALL, ONE_LINE } from './support/corpus.js';
import { makeAnswersHostile } from './support/hostile-answers.js';
import { openWorld, type World } from './support/world.js';

jest.setTimeout(5 * TIMEOUT_MS);

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

/** Also the pages whose texts only operators write. */
const ALL_PAGES: typeof PAGES = [
  ...PAGES,
  () => '/plugins',
  () => '/skills',
  () => '/hooks?status=delivered',
];

/** Opens every `details` element, so that its contents are rendered too. */
async function unfold(page: Page): Promise<void> {
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
}

/**
 * What must not be in the page: elements that only injected markup could create, and links that would run a script.
 */
function injectedElements(page: Page): Promise<string[]> {
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
      await waitUntilLoaded(page);
      await unfold(page);
      await waitUntilLoaded(page);
      expect(await injectedElements(page)).toEqual([]);
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

/** Ids are changed too, so requests by id are answered 404. */
const IS_NOT_FOUND = /^console: (Failed to load resource: |WebSocket connection to .* failed: .*)/s;

describeInBrowser('any text of any answer', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    await openBrowser();
  });
  afterAll(async () => {
    await closeBrowser();
    await world.stop();
  });

  test.each(ALL_PAGES.map((path) => [path]))('0 executed (%#)', async (path) => {
    const { page, faults, close } = await visit(world.url('/nowhere'), VIEW, world.gateway.token);
    try {
      const changed = await makeAnswersHostile(page);
      await page.goto(world.url(path(world)));
      await waitUntilLoaded(page);
      await unfold(page);
      await waitUntilLoaded(page);
      expect(changed()).toBeGreaterThan(1);
      // Each next question, such as whether to delete, is a button that opens a dialog.
      for (const name of [/^Revoke/, /^Delete/, /^Change/]) {
        const button = page.locator('main').getByRole('button', { name }).first();
        if (!(await button.isVisible())) continue;
        await button.click();
        await page.getByRole('dialog').waitFor();
        expect(await injectedElements(page)).toEqual([]);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      expect(await injectedElements(page)).toEqual([]);
      expect(await page.evaluate('globalThis.hit')).toBeUndefined();
      expect(faults.filter((fault) => !IS_NOT_FOUND.test(fault))).toEqual([]);
    } finally {
      await close();
    }
  });
});

describeInBrowser('texts of providers, skills, plugins and files', () => {
  const MARKUP = '<img src=x onerror=window.hit=1>';
  let provider: ScriptedProvider;
  let skills: SkillBench;
  let plugins: PluginBench;
  let gateway: TestGateway;
  beforeAll(async () => {
    provider = await startScriptedProvider();
    skills = await SkillBench.make();
    await skills.add(
      'hostile',
      ALL,
      `name: hostile\ndescription: ${JSON.stringify(ONE_LINE)}\ntriggers: [${JSON.stringify(MARKUP)}]`,
    );
    await skills.add(MARKUP, 'none', 'name: no');
    plugins = await PluginBench.make();
    await plugins.writeManifest(
      'half',
      `name = "half"\nversion = ${JSON.stringify(MARKUP)}\ndescription = ${JSON.stringify(ONE_LINE)}\n`,
    );
    gateway = await startTestGateway({
      env: { ...providerEnv(provider), ...skills.env, ...plugins.env, GATEWAY__PROVIDER__MAX_RETRIES: '0' },
    });
    await openBrowser();
  });
  afterAll(async () => {
    await closeBrowser();
    await gateway.stop();
    await provider.stop();
    await skills.clear();
    await plugins.clear();
  });
  const url = (path: string): string => `http://127.0.0.1:${gateway.started.ports.b}/console${path}`;
  const expectHarmless = async (page: Page, faults: readonly string[]): Promise<void> => {
    await unfold(page);
    await waitUntilLoaded(page);
    expect(await injectedElements(page)).toEqual([]);
    expect(await page.evaluate('globalThis.hit')).toBeUndefined();
    expect(faults).toEqual([]);
  };

  test('what a provider says of its failure, the words that a model streams, and the names of files', async () => {
    const { body } = await gateway.b.post<{ id: string }>('/sessions');
    const { page, faults, close } = await visit(url(`/sessions/${body.id}`), VIEW, gateway.token);
    try {
      await page.getByText('Nothing was said yet').waitFor();
      const held = heldAnswer();
      provider.script(held.script);
      const text = { name: `${MARKUP}.txt`, type: 'file', mime_type: 'text/plain', data: btoa('hello') };
      const answer = gateway.b.post(`/sessions/${body.id}/messages`, {
        content: MARKUP,
        attachments: [text],
      });
      await eventually(() => expect(provider.requests).toHaveLength(1), TIMEOUT_MS);
      for (const piece of ALL.match(/.{1,17}/gs) ?? []) held.say(piece);
      held.say(' the end');
      await page.locator('.message', { hasText: 'the end' }).first().waitFor();
      await expectHarmless(page, faults);
      held.finish();
      await answer;
      await page.getByText(`${MARKUP}.txt`).first().waitFor();
      provider.script((response) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: ALL, type: MARKUP, code: MARKUP } }));
      });
      await gateway.b.post(`/sessions/${body.id}/messages`, { content: 'again' });
      await page.getByText('failed').first().waitFor();
      await expectHarmless(page, faults);
    } finally {
      await close();
    }
  });

  test.each([
    ['/skills', MARKUP],
    ['/plugins', 'half'],
    ['/logs?level=trace', 'provider'],
    ['', 'Health of every part'],
  ])('%s/ shows them as text', async (path, shown) => {
    const { page, faults, close } = await visit(url(path), VIEW, gateway.token);
    try {
      await page.locator('main').getByText(shown).first().waitFor();
      await expectHarmless(page, faults);
    } finally {
      await close();
    }
  });
});
