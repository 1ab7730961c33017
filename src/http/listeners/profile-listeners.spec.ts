import { type AddressInfo, createServer } from 'node:net';
import express from 'express';
import { settingsSchema } from '../../platform/settings/settings.schema.js';
import type { AccessLog } from '../access-log/access-log.js';
import type { RawRefusal } from '../envelope/raw-refusal.js';
import { ProfileListeners } from './profile-listeners.js';

const listeners = (): ProfileListeners => new ProfileListeners(express(), {} as AccessLog, {} as RawRefusal);
const settings = (more: object) =>
  settingsSchema.parse({
    gateway: { host: '127.0.0.1', port: 0, profile_a_port: 0, management_port: 0, ...more },
  }).gateway;

test.each([
  [['a'], ['a', 'operations']],
  [['b'], ['b', 'operations']],
  [
    ['a', 'b'],
    ['a', 'b', 'operations'],
  ],
])('of %j only the ports are open, and operations', async (profiles, open) => {
  const made = listeners();
  expect(Object.keys(await made.open(settings({ profiles })))).toEqual(open);
  await made.close();
});

test('a port in use is reported with its setting, and no port stays open', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const made = listeners();
  await expect(made.open(settings({ management_port: port }))).rejects.toThrow(
    `Port 127.0.0.1:${port} is taken: stop what uses it, or set gateway.management_port ` +
      '(or GATEWAY__GATEWAY__MANAGEMENT_PORT) to another.',
  );
  await new Promise((resolve) => other.close(resolve));
  const again = await made.open(settings({ management_port: port }));
  expect(again.operations).toBe(port);
  await made.close();
});

test('an address that is not of this machine is reported as such', async () => {
  await expect(listeners().open(settings({ host: '192.0.2.1' }))).rejects.toThrow(
    /^Cannot listen on 192\.0\.2\.1:0: .*Check gateway\.host and gateway\.profile_a_port; over a value that a PATCH stored, the file or the environment .* wins\.$/,
  );
});
