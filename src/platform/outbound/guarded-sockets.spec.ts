import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'undici';
import { WebSocketServer } from 'ws';
import { FixedSettings } from '../settings/settings.js';
import { settingsSchema } from '../settings/settings.schema.js';
import { AddressGuard } from './address-guard.js';
import { Egress } from './egress.js';
import { GuardedSockets } from './guarded-sockets.js';
import { NameResolver } from './name-resolver.js';

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

test('what is allowed is connected to; cutting ends it although the other side does nothing, and opens nothing more', async () => {
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
