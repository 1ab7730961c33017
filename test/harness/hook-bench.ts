import { createTestDatabase, type TestDatabase } from './database.js';
import { eventually } from './eventually.js';
import { startTestGateway, type TestGateway } from './gateway.js';
import { HookReceiver } from './hook-receiver.js';

/** What a test asks of a webhook beyond the defaults. */
export interface HookRequest {
  readonly path?: string;
  readonly events?: readonly string[];
  readonly secret?: string;
}

export interface DeliveryRow {
  readonly status: string;
  readonly attempts: number;
  /** Seconds from the last attempt to the next. */
  readonly wait: number | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

/** A gateway that sends webhooks, and for each test a receiver of its own. */
export class HookBench {
  receiver!: HookReceiver;

  private constructor(
    readonly database: TestDatabase,
    public gateway: TestGateway,
  ) {}

  static async open(): Promise<HookBench> {
    const database = await createTestDatabase();
    return new HookBench(database, await startTestGateway({ database }));
  }

  /** For `beforeEach`. */
  async openReceiver(): Promise<void> {
    this.receiver = await HookReceiver.open();
  }

  /** For `afterEach`: deletes all webhooks and what is waiting for them. */
  async forget(): Promise<void> {
    const { body } = await this.gateway.a.get<{ hooks: { id: string }[] }>('/hooks');
    for (const { id } of body.hooks) expect((await this.gateway.a.delete(`/hooks/${id}`)).status).toBe(204);
    await this.receiver.close();
    await this.database.query('DELETE FROM hook_deliveries');
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await this.database.drop();
  }

  async restart(): Promise<void> {
    await this.gateway.stop();
    this.gateway = await startTestGateway({ database: this.database });
  }

  /** Registers a webhook at the receiver: at `/hook` and for new sessions, unless asked for something else. */
  async register({
    path = '/hook',
    events = ['session.created'],
    secret,
  }: HookRequest = {}): Promise<string> {
    const body = { url: this.receiver.url(path), events, ...(secret === undefined ? {} : { secret }) };
    const answer = await this.gateway.a.post<{ id: string }>('/hooks', body);
    expect(answer.status).toBe(201);
    return answer.body.id;
  }

  /** Makes the event that webhooks are sent unless they ask for others. */
  async makeSession(from = this.gateway): Promise<void> {
    expect(await from.a.post('/sessions', {})).toMatchObject({ status: 201 });
  }

  deliveries(): Promise<DeliveryRow[]> {
    return this.database.query<DeliveryRow>(`
      SELECT status, attempts, last_status, last_error,
        extract(epoch FROM next_attempt_at - last_attempt_at)::float8 AS wait
      FROM hook_deliveries ORDER BY id`);
  }

  /** The first delivery, once it was attempted so many times. */
  async firstAfter(attempts: number): Promise<DeliveryRow> {
    await eventually(async () => expect((await this.deliveries())[0]?.attempts).toBe(attempts));
    return (await this.deliveries())[0] as DeliveryRow;
  }
}
