import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'undici';
import { WebSocketServer } from 'ws';
import {
  AUTHORITY_FILE,
  CompanyProxy,
  PROXY_PASSWORD,
  SERVER_CERTIFICATE,
} from '../../../test/harness/company-proxy.js';
import { silentLogs } from '../logging/logger.js';
import { FixedSettings } from '../settings/settings.js';
import { settingsSchema } from '../settings/settings.schema.js';
import { AddressGuard } from './address-guard.js';
import { Egress } from './egress.js';
import { GuardedSockets } from './guarded-connector.js';
import { NameResolver } from './name-resolver.js';
import { OutboundClient } from './outbound-client.js';

/** Every name leads to this machine. */
class HomeNames extends NameResolver {
  addressesOf(): Promise<readonly string[]> {
    return Promise.resolve(['127.0.0.1']);
  }
}

let server: WebSocketServer;
let port: number;
beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

function sockets(networks: string[]): GuardedSockets {
  const security = { allow_private_networks: networks, allow_loopback: 'never' };
  const settings = new FixedSettings(settingsSchema.parse({ security }));
  return new GuardedSockets(new AddressGuard(settings, new HomeNames()), Egress.direct());
}

/** What became of a WebSocket: `open`, or `error`. */
function attempt(url: string, { dispatcher }: GuardedSockets): Promise<{ what: string; socket: WebSocket }> {
  const socket = new WebSocket(url, { dispatcher });
  return new Promise((resolve) => {
    for (const what of ['open', 'error']) socket.addEventListener(what, () => resolve({ what, socket }));
  });
}

test.each([
  ['a literal', () => `ws://127.0.0.1:${port}/`, 'address'],
  ['a name', () => `ws://slack.example:${port}/`, 'address'],
  ['localhost', () => `ws://localhost:${port}/`, 'address'],
  ['a port of another protocol', () => 'ws://203.0.113.9:6379/', 'port'],
])('%s that is not allowed is not connected to, and the reason is kept', async (_what, url, reason) => {
  const guarded = sockets([]);
  expect((await attempt(url(), guarded)).what).toBe('error');
  expect(guarded.failure).toMatchObject({ name: 'OutboundRefused', reason });
  expect(server.clients.size).toBe(0);
  await guarded.cut();
});

test('an allowed WebSocket connects; cutting ends it even if the other side does nothing, and opens nothing more', async () => {
  const guarded = sockets(['127.0.0.0/8']);
  const { what, socket } = await attempt(`ws://slack.example:${port}/`, guarded);
  expect(what).toBe('open');
  const [client] = server.clients;
  client?.pause();
  const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
  await guarded.cut();
  await closed;
  client?.terminate();
  expect((await attempt(`ws://slack.example:${port}/`, guarded)).what).toBe('error');
  await guarded.cut();
});

describe('guarded tunnel', () => {
  class Names extends NameResolver {
    constructor(private readonly table: Readonly<Record<string, string[]>>) {
      super();
    }

    async addressesOf(name: string): Promise<readonly string[]> {
      const found = this.table[name];
      if (found === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
      return found;
    }
  }

  let proxy: CompanyProxy;
  let receiver: Server;
  let port: number;
  const clients: OutboundClient[] = [];
  beforeAll(async () => {
    proxy = await CompanyProxy.start();
    receiver = createServer(SERVER_CERTIFICATE, (_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    port = (receiver.address() as AddressInfo).port;
  });
  beforeEach(() => proxy.asked.splice(0));
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.onApplicationShutdown())));
  afterAll(async () => {
    receiver.closeAllConnections();
    receiver.close();
    await proxy.stop();
  });

  interface Wanted {
    readonly names?: Record<string, string[]>;
    readonly proxyHosts?: string[];
    readonly caFile?: string;
    readonly proxyUrl?: string;
  }

  function client({
    names = {},
    proxyHosts = [],
    caFile = AUTHORITY_FILE,
    proxyUrl = proxy.url,
  }: Wanted): OutboundClient {
    const security = { allow_private_networks: ['127.0.0.0/8'], allow_loopback: 'never' };
    const settings = settingsSchema.parse({ security, outbound: { proxy_hosts: proxyHosts } });
    const egress = new Egress(
      { httpsProxy: proxyUrl, httpProxy: undefined, noProxy: undefined, extraCaFile: undefined },
      caFile,
    );
    const guard = new AddressGuard(new FixedSettings(settings), new Names(names));
    const made = new OutboundClient(guard, silentLogs, egress);
    clients.push(made);
    return made;
  }

  const send = (one: OutboundClient, url: string) => one.send({ method: 'POST', url, timeoutMs: 5000 });

  test('the proxy is asked for the address that was checked, and TLS is for the name', async () => {
    const one = client({ names: { 'receiver.test': ['127.0.0.1'] } });
    expect((await send(one, `https://receiver.test:${port}/`)).status).toBe(200);
    expect(proxy.asked.map(({ authority }) => authority)).toEqual([`127.0.0.1:${port}`]);
  });

  test('a name that leads to a private address is refused before the proxy is asked', async () => {
    const one = client({ names: { 'inside.test': ['10.1.2.3'] } });
    await expect(send(one, 'https://inside.test/')).rejects.toMatchObject({ reason: 'address' });
    await expect(send(one, 'https://10.1.2.3/')).rejects.toMatchObject({ reason: 'address' });
    expect(proxy.asked).toEqual([]);
  });

  test('a name that cannot be resolved here is refused, unless outbound.proxy_hosts leaves it to the proxy', async () => {
    proxy.backends.set('hooks.proxied.test', port);
    await expect(send(client({}), 'https://hooks.proxied.test/')).rejects.toMatchObject({
      reason: 'name_not_resolved',
    });
    expect(proxy.asked).toEqual([]);
    const one = client({ proxyHosts: ['*.proxied.test'] });
    // The front passes bytes on, and the receiver behind it speaks TLS: what arrives is no HTTP for it.
    await send(one, 'https://hooks.proxied.test/').catch(() => undefined);
    expect(proxy.asked.map(({ authority }) => authority)).toEqual(['hooks.proxied.test:443']);
    expect(proxy.asked[0]?.authorization).toBeDefined();
  });

  test('an authority that is not configured is not trusted', async () => {
    const one = client({ names: { 'receiver.test': ['127.0.0.1'] }, caFile: '' });
    await expect(send(one, `https://receiver.test:${port}/`)).rejects.toMatchObject({ reason: 'tls' });
  });

  test('a failing proxy is reported differently from a failing receiver', async () => {
    const names = { 'receiver.test': ['127.0.0.1'] };
    const stranger = client({ names, proxyUrl: proxy.url.replace(PROXY_PASSWORD, 'wrong') });
    const away = client({ names, proxyUrl: 'http://127.0.0.1:9' });
    for (const one of [stranger, away]) {
      await expect(send(one, `https://receiver.test:${port}/`)).rejects.toMatchObject({
        reason: 'proxy',
        message: 'The call failed: the proxy did not connect.',
      });
    }
  });
});
