import { eventually } from '../harness/eventually.js';
import { type GatewayOnTerminal, ProcessBench } from '../harness/gateway-process.js';
import {
  closeBrowser,
  describeInBrowser,
  openBrowser,
  screenshot,
  TIMEOUT_MS,
  visit,
} from './support/browser.js';

jest.setTimeout(5 * TIMEOUT_MS);

const VIEW = { theme: 'light', width: 1280 } as const;

describeInBrowser('the first run, at a terminal, with no key and no file', () => {
  const processes = new ProcessBench();
  let gateway: GatewayOnTerminal;
  let link: string;
  beforeAll(async () => {
    gateway = await processes.serveOnTerminal({
      env: { GATEWAY_DATA_DIR: `${await processes.folder()}/data` },
    });
    link = /http:\/\/127\.0\.0\.1:\d+\/console#code=\S+/.exec(gateway.screen())?.[0] ?? '';
    await openBrowser();
  });
  afterAll(async () => {
    await closeBrowser();
    await gateway.interrupt();
    await processes.clear();
  });

  test('the link that it prints signs in, and leads to the offline agent, who calls a tool at a click', async () => {
    const { page, faults, close } = await visit(link, VIEW);
    try {
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(page.url()).not.toContain('code');
      // The first page says what to do next.
      await page.getByText('no model provider is configured').waitFor();
      await page.getByText('Set ANTHROPIC_API_KEY or OPENAI_API_KEY').waitFor();
      await screenshot(page, 'first-run');
      await page.getByRole('link', { name: 'Sessions', exact: true }).click();
      await page.getByText('No sessions yet').waitFor();
      await page.getByRole('button', { name: 'New session' }).click();
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await page.getByRole('button', { name: 'Call a tool: remember something' }).click();
      await page
        .locator('.call', { hasText: 'memory_store' })
        .getByText('success', { exact: true })
        .first()
        .waitFor();
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('the same link signs nobody in once more', async () => {
    const { page, close } = await visit(link, VIEW);
    try {
      await page.getByText('This sign-in link is not valid here').waitFor();
      await page.getByLabel('Access token').waitFor();
    } finally {
      await close();
    }
  });

  test('the token that it prints signs in where the link does not', async () => {
    const token = /agw_[\w-]{49}/.exec(gateway.screen())?.[0] ?? '';
    const { page, close } = await visit(link.replace(/#.*/, ''), VIEW);
    try {
      await page.getByLabel('Access token').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await eventually(async () => expect(await page.locator('.nav-link').count()).toBe(14), TIMEOUT_MS);
    } finally {
      await close();
    }
  });
});
