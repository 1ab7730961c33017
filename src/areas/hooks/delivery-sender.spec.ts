import type { Logs } from '../../platform/logging/logger.js';
import type { OutboundClient } from '../../platform/outbound/outbound-client.js';
import { FixedSettings, type Settings } from '../../platform/settings/settings.js';
import type { Delivery } from './delivery.js';
import { DeliverySender } from './delivery-sender.js';
import type { HookSecrets } from './hook-secrets.js';
import type { RetryStore } from './retry.store.js';
import { RETRY_DELAYS_SECS } from './retry-schedule.js';
import type { TaskNotifications } from './task-notifications.js';

const logged: [level: string, message: string][] = [];
const at = (level: string) => (message: string) => void logged.push([level, message]);
beforeEach(() => logged.splice(0));

const sender = new DeliverySender(
  { send: () => Promise.resolve({ status: 500, headers: {} }) } as unknown as OutboundClient,
  { signingKeys: () => [] } as unknown as HookSecrets,
  {} as RetryStore,
  new FixedSettings({ hooks: { timeout_ms: 1000 } } as unknown as Settings['current']),
  {} as TaskNotifications,
  { for: () => ({ debug: at('debug'), warn: at('warn') }) } as unknown as Logs,
);

const delivery = (attempts: number): Delivery => ({
  id: '1',
  hookId: 'hook_1',
  eventId: 'evt_1',
  event: 'session.created',
  sequence: 1,
  occurredAt: new Date(0),
  data: '{}',
  attempts,
  url: 'http://receiver.example/',
  secrets: [],
});

test('a failed attempt is logged at debug, and the last one at warn as given up', async () => {
  const { signal } = new AbortController();
  await sender.attempt(delivery(0), signal);
  expect(logged).toEqual([['debug', 'a delivery failed']]);
  const last = RETRY_DELAYS_SECS.length;
  const outcome = await sender.attempt(delivery(last), signal);
  expect(outcome?.status).toBe('failed');
  expect(logged[1]).toEqual([
    'warn',
    `delivery to webhook hook_1 given up after ${last + 1} attempts: http_500`,
  ]);
});
