import pg from 'pg';
import { Agent } from 'undici';
import { serveHelper } from '../harness/serve-helper.js';

export interface BareLoopConfig {
  readonly databaseUrl: string;
  /** Deliveries in flight. */
  readonly atOnce: number;
}

const CLAIMED_AT_ONCE = 100;

const CLAIM = `
  UPDATE bare_outbox SET claimed = true WHERE id IN (
    SELECT id FROM bare_outbox WHERE NOT claimed ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING id, origin, path, body`;
const DONE = `UPDATE bare_outbox SET done_at = now() WHERE id = ANY ($1)`;

interface Row {
  id: string;
  origin: string;
  path: string;
  body: string;
}

/**
 * The minimum cost of a delivery: claim a hundred, send them `atOnce` at a time over keep-alive connections, record
 * them together.
 */
await serveHelper(async ({ databaseUrl, atOnce }: BareLoopConfig) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  const agent = new Agent({ connections: 2048 });
  return {
    ready: true,
    /** Empties the outbox once. */
    answer: async (): Promise<true> => {
      const queue = new Queue(pool);
      await Promise.all(Array.from({ length: atOnce }, () => send(queue, agent)));
      await queue.flush();
      return true;
    },
  };
});

async function send(queue: Queue, agent: Agent): Promise<void> {
  for (let row = await queue.next(); row !== undefined; row = await queue.next()) {
    const { origin, path, body } = row;
    const headers = { 'content-type': 'application/json' };
    const answer = await agent.request({ origin, path, method: 'POST', headers, body });
    await answer.body.dump();
    queue.done(row.id);
  }
}

/** Claims deliveries ahead of the senders, and records outcomes in batches. */
class Queue {
  private rows: Row[] = [];
  private claiming: Promise<void> | undefined;
  private finished: string[] = [];
  private noting: Promise<unknown> = Promise.resolve();
  private isEmpty = false;

  constructor(private readonly pool: pg.Pool) {}

  async next(): Promise<Row | undefined> {
    while (this.rows.length === 0 && !this.isEmpty) {
      this.claiming ??= this.claim();
      await this.claiming;
    }
    return this.rows.pop();
  }

  done(id: string): void {
    this.finished.push(id);
    if (this.finished.length >= CLAIMED_AT_ONCE) void this.flush();
  }

  flush(): Promise<unknown> {
    const ids = this.finished.splice(0);
    if (ids.length > 0) {
      this.noting = Promise.all([this.noting, this.pool.query({ name: 'done', text: DONE, values: [ids] })]);
    }
    return this.noting;
  }

  private async claim(): Promise<void> {
    const { rows } = await this.pool.query<Row>({ name: 'claim', text: CLAIM, values: [CLAIMED_AT_ONCE] });
    this.rows.push(...rows);
    this.isEmpty = rows.length === 0;
    this.claiming = undefined;
  }
}
