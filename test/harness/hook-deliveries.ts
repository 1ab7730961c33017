import type { TestDatabase } from './database.js';
import { eventually } from './eventually.js';
import type { TestGateway } from './gateway.js';
import type { HookReceiver } from './hook-receiver.js';

/** What a test asks of a webhook beyond the defaults. */
export interface HookWish {
  readonly path?: string;
  readonly events?: readonly string[];
  readonly secret?: string;
}

/** Registers a webhook at this receiver: at `/hook` and for new sessions, unless asked for something else. */
export async function registerHook(
  gateway: TestGateway,
  receiver: HookReceiver,
  { path = '/hook', events = ['session.created'], secret }: HookWish = {},
): Promise<string> {
  const body = { url: receiver.url(path), events, ...(secret === undefined ? {} : { secret }) };
  const answer = await gateway.a.post<{ id: string }>('/hooks', body);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

/** Makes the event that webhooks of `registerHook` are sent. */
export async function makeSession(gateway: TestGateway): Promise<void> {
  expect(await gateway.a.post('/sessions', {})).toMatchObject({ status: 201 });
}

/** Deletes all webhooks and what is waiting for them. */
export async function forgetHooks(gateway: TestGateway, database: TestDatabase): Promise<void> {
  const { body } = await gateway.a.get<{ hooks: { id: string }[] }>('/hooks');
  for (const { id } of body.hooks) expect((await gateway.a.delete(`/hooks/${id}`)).status).toBe(204);
  await database.query('DELETE FROM hook_deliveries');
}

export interface DeliveryRow {
  readonly status: string;
  readonly attempts: number;
  /** Seconds from the last attempt to the next. */
  readonly wait: number | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

export const deliveriesIn = (database: TestDatabase): Promise<DeliveryRow[]> =>
  database.query<DeliveryRow>(`
    SELECT status, attempts, last_status, last_error,
      extract(epoch FROM next_attempt_at - last_attempt_at)::float8 AS wait
    FROM hook_deliveries ORDER BY id`);

/** The first delivery, once it was attempted so many times. */
export async function firstAfter(database: TestDatabase, attempts: number): Promise<DeliveryRow> {
  await eventually(async () => expect((await deliveriesIn(database))[0]?.attempts).toBe(attempts));
  return (await deliveriesIn(database))[0] as DeliveryRow;
}
