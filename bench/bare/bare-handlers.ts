import type { Pool, QueryResultRow } from 'pg';
import { newId } from '../../src/common/ids/typeid.js';
import { type ProductSql, SAMPLE } from './product-sql.js';
import type { Relay } from './relay.js';
import { Replay } from './replay.js';

/** Answers of the bare server: the product's rows and field names, without any checks. */
export class BareHandlers {
  private readonly replays: Readonly<Record<StepName, Replay>>;

  constructor(
    pool: Pool,
    private readonly sql: ProductSql,
    private readonly relay: Relay | undefined,
  ) {
    const replay = (name: StepName): [StepName, Replay] => [name, new Replay(pool, sql[name])];
    this.replays = Object.fromEntries(STEP_NAMES.map(replay)) as Record<StepName, Replay>;
  }

  async create(): Promise<object> {
    const id = newId('sess');
    const [[row]] = (await this.replays.create.run(new Map([[this.sql.sessionId, id]]))) as [Rows];
    return { session_id: id, created_at: row?.['created_at'] as Date, channel: 'api', status: 'active' };
  }

  async find(id: string): Promise<object> {
    const [[row]] = (await this.replays.find.run(new Map([[this.sql.sessionId, id]]))) as [Rows];
    if (row === undefined) throw new Error('There is no such session.');
    const tokens = Number(row['input_tokens']) + Number(row['output_tokens']);
    return { ...item(row), model: (row['model'] as string | null) ?? 'bench', total_tokens: tokens };
  }

  async list(limit: number, offset: number): Promise<object> {
    const fill = new Map([
      [SAMPLE.limit, limit],
      [SAMPLE.offset, offset],
    ]);
    const [rows] = (await this.replays.list.run(fill)) as [Rows];
    return {
      sessions: rows.filter((row) => row['id'] !== null).map(item),
      total: Number(rows[0]?.['total']),
    };
  }

  /** Looks up the session first, as the product does to find its owner. */
  async history(id: string, before: string, limit: number): Promise<object> {
    await this.find(id);
    const session: [string, string] = [this.sql.sessionId, id];
    const [[at]] = (await this.replays.place.run(new Map([session, [this.sql.answerId, before]]))) as [Rows];
    const fill = new Map<string | number, string | number>([
      session,
      [SAMPLE.place, Number(at?.['seq'])],
      [SAMPLE.limit, limit + 1],
    ]);
    const [rows] = (await this.replays.before.run(fill)) as [Rows];
    return { messages: rows.slice(0, limit).map(message).reverse(), has_more: rows.length > limit };
  }

  async turn(id: string, content: string): Promise<object> {
    if (this.relay === undefined) throw new Error('This server has no provider.');
    const begin = new Map([
      [this.sql.sessionId, id],
      [SAMPLE.content, content],
    ] as const);
    const [[claimed]] = (await this.replays.begin.run(begin)) as [Rows];
    if (claimed === undefined) throw new Error('The session is busy.');
    const history = (claimed['history'] as QueryResultRow[]).reverse();
    const said = history.map((row) => ({ role: String(row['role']), content: String(row['content']) }));
    const answer = await this.relay.ask([...said, { role: 'user', content }]);
    const answerId = newId('msg');
    const complete = new Map<string | number, string | number>([
      [this.sql.sessionId, id],
      [SAMPLE.fence, Number(claimed['fence'])],
      [SAMPLE.answer, answer.content],
      [this.sql.answerId, answerId],
    ]);
    await this.replays.complete.run(complete);
    return {
      message_id: answerId,
      role: 'assistant',
      content: answer.content,
      tool_calls: [],
      tokens_used: answer.tokens,
      model: answer.model,
    };
  }
}

const STEP_NAMES = ['create', 'find', 'list', 'begin', 'complete', 'place', 'before'] as const;
type StepName = (typeof STEP_NAMES)[number];
type Rows = QueryResultRow[];

function item(row: QueryResultRow): object {
  return {
    session_id: row['id'] as string,
    created_at: row['created_at'] as Date,
    channel: row['channel'] as string,
    status: row['status'] as string,
    message_count: row['message_count'] as number,
  };
}

function message(row: Readonly<Record<string, unknown>>): object {
  const { id, role, content, created_at, attachments, tool_calls, tokens_used, model } = row;
  return { message_id: id, role, content, created_at, attachments, tool_calls, tokens_used, model };
}
