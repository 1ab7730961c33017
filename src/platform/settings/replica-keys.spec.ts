import { randomBytes } from 'node:crypto';
import { SecretBox } from '../secrets/secret-box.js';
import { CandidateBuilder } from './candidate-builder.js';
import { canBind, overruledKeys, unbindableHosts, withoutOverruled } from './replica-keys.js';
import type { SettingsLayer } from './settings-validation.js';

const builder = new CandidateBuilder(new SecretBox(randomBytes(32)), []);
const layer = (name: SettingsLayer['name'], gateway: Record<string, unknown>): SettingsLayer => ({
  name,
  tree: { gateway },
  whereIs: () => name,
});
const stored = {
  revision: '1',
  rows: [
    { key: 'gateway.max_body_bytes', content: { value: 2048 } },
    { key: 'gateway.port', content: { value: 5000 } },
  ],
};

test('a stored port applies to a replica that sets none of its own', () => {
  const candidate = builder.build([layer('file', { max_body_bytes: 4096 })], stored);
  expect(overruledKeys(candidate)).toEqual([]);
  expect(candidate.settings.gateway.port).toBe(5000);
});

test('it does not apply where the file or the environment sets one; the environment wins over the file', () => {
  const layers = [layer('file', { port: 4000 }), layer('environment', { port: 4001, max_body_bytes: 4096 })];
  const candidate = builder.build(layers, stored);
  const overruled = overruledKeys(candidate);
  expect(overruled).toEqual([{ key: 'gateway.port', stored: 5000, own: 4001, where: 'environment' }]);
  const { gateway } = builder.build(layers, withoutOverruled(stored, overruled)).settings;
  expect([gateway.port, gateway.max_body_bytes]).toEqual([4001, 2048]);
});

test('a stored host is ignored where it cannot be bound, and only there', async () => {
  const rows = [
    { key: 'gateway.host', content: { value: '192.0.2.7' } },
    { key: 'gateway.management_host', content: { value: '127.0.0.1' } },
  ];
  const layers = [layer('file', { max_body_bytes: 4096 })];
  const candidate = builder.build(layers, { revision: '1', rows });
  const { settings: own } = builder.build(layers, { revision: '1', rows: [] });
  expect(await unbindableHosts(candidate, own)).toEqual([
    { key: 'gateway.host', stored: '192.0.2.7', own: '127.0.0.1', where: 'this machine' },
  ]);
  expect(await unbindableHosts(candidate, own, () => Promise.resolve(true))).toEqual([]);
  expect(await canBind('0.0.0.0')).toBe(true);
});
