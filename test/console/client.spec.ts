import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import type * as client from '../../client/src/index.js';
import { CuttingProxy } from '../harness/cutting-proxy.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';
import { closeBrowser, describeInBrowser, openBrowser, TIMEOUT_MS, visit } from './support/browser.js';

jest.setTimeout(2 * TIMEOUT_MS);

/** What the page defines: the client, and what it showed. */
interface Page {
  readonly gateway: typeof client;
  said: string;
  kinds: string[];
  over: Promise<void>;
}

describeInBrowser('the typed client in a browser', () => {
  let provider: ScriptedProvider;
  let gateway: TestGateway;
  let proxy: CuttingProxy;
  let site: Server;
  let page: string;
  beforeAll(async () => {
    provider = await startScriptedProvider();
    gateway = await startTestGateway({ env: providerEnv(provider) });
    proxy = new CuttingProxy([Number(new URL(gateway.b.base).port)], []);
    site = await siteWithClient();
    page = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    await openBrowser();
  });
  afterAll(async () => {
    await closeBrowser();
    await proxy.close();
    await new Promise((closed) => site.close(closed));
    await gateway.stop();
    await provider.stop();
  });

  /** A page of another origin with the client as bundlers build it. */
  async function siteWithClient(): Promise<Server> {
    const { outputFiles } = await build({
      ...{ entryPoints: ['client/src/index.ts'], bundle: true, write: false, logLevel: 'silent' },
      ...{ platform: 'browser', format: 'iife', globalName: 'gateway' },
    });
    const server = createServer((request, response) => {
      const isScript = request.url === '/client.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? outputFiles[0]?.text : '<!doctype html><script src="/client.js"></script>');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return server;
  }

  test('a session, and a stream that goes on after the connection is cut, from a page of an origin that is named', async () => {
    const origins = { 'gateway.cors_origins': [new URL(page).origin] };
    expect((await gateway.b.patch('/config', origins)).status).toBe(200);
    const held = heldAnswer();
    provider.script(held.script);
    const baseUrl = await proxy.listen();
    const { page: tab, faults, close } = await visit(page, { theme: 'light', width: 1280 });
    const said = (): Promise<string> => tab.evaluate(() => (globalThis as unknown as Page).said);
    await tab.evaluate(
      async ({ baseUrl, token }) => {
        const own = globalThis as unknown as Page;
        const { api, turns } = own.gateway.profileB({ baseUrl, token });
        const { id } = await own.gateway.orThrow(api.POST('/api/v1/sessions', { body: {} }));
        Object.assign(own, { said: '', kinds: [] });
        const show = async (): Promise<void> => {
          for await (const event of turns.send(id, { content: 'Hello' })) {
            own.kinds.push(event.type);
            if (event.type === 'token') own.said += event.data.content;
          }
        };
        own.over = show();
      },
      { baseUrl, token: gateway.token },
    );
    await eventually(() => expect(provider.requests).toHaveLength(1));
    held.say('alpha ');
    await eventually(async () => expect(await said()).toBe('alpha '), TIMEOUT_MS);
    proxy.cutAll();
    held.say('bravo');
    held.finish();
    await tab.evaluate(() => (globalThis as unknown as Page).over);
    const kinds = await tab.evaluate(() => (globalThis as unknown as Page).kinds);
    expect([await said(), kinds.filter((kind) => kind === 'done'), provider.requests.length]).toEqual([
      'alpha bravo',
      ['done'],
      1,
    ]);
    expect(faults.filter((fault) => fault.startsWith('uncaught'))).toEqual([]);
    await close();
  });
});
