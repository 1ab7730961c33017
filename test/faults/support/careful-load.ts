import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from './answers.js';
import { CarefulCaller } from './careful-caller.js';
import type { HookAdmin } from './hook-admin.js';
import type { Ledger } from './ledger.js';
import type { Stage } from './stage.js';

export interface LoadSize {
  /** Callers in shared sessions; every other one does not wait for answers. */
  readonly talkers: number;
  /** Sessions that talkers share. */
  readonly shared: number;
  /** Callers that create a session, talk once and end it. */
  readonly comers: number;
  /** Webhooks that are registered during the run. */
  readonly lateHooks: number;
}

type Created = Readonly<Record<'session_id' | 'id', string>>;
interface ModelOutput {
  readonly message_id: string;
  readonly content: string;
}

/** Callers of every kind at once. Each request has its own key, and the ledger records every definite answer. */
export class CarefulLoad {
  readonly answers = new Map<string, number>();
  private readonly stopping = new AbortController();
  private workers: Promise<void>[] = [];
  private sessions: string[] = [];

  constructor(
    private readonly stage: Stage,
    private readonly ledger: Ledger,
    private readonly hooks: HookAdmin,
    private readonly size: LoadSize,
  ) {
    // Every worker listens to the signal while it sleeps.
    setMaxListeners(0, this.stopping.signal);
  }

  async start(): Promise<void> {
    const opener = this.caller('opener', 0);
    await this.hooks.register(opener, 'first');
    for (let n = 0; n < this.size.shared; n += 1)
      this.sessions.push((await this.create(opener, `shared-${n}`)) ?? '');
    const numbered = (count: number) => Array.from({ length: count }, (_, n) => n);
    this.workers = [
      ...numbered(this.size.talkers).map((n) => this.repeat((round) => this.talk(n, round))),
      ...numbered(this.size.comers).map((n) => this.repeat((round) => this.comeAndGo(n, round))),
      this.repeat((round) => this.set(round)),
      this.repeat((round) => this.registerLate(round)),
    ];
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.workers);
  }

  private async repeat(work: (round: number) => Promise<void>): Promise<void> {
    for (let round = 0; !this.stopping.signal.aborted; round += 1) await work(round);
  }

  private caller(name: string, n: number): CarefulCaller {
    return new CarefulCaller(name, n % 2 === 0 ? 'a' : 'b', this.stage.places, this.ledger, this.answers);
  }

  private async talk(n: number, round: number): Promise<void> {
    const isAsync = n % 2 === 1;
    const session = this.sessions[(n + round) % this.sessions.length] ?? '';
    await this.say(this.caller(`talker-${n}`, n >> 1), session, `talker-${n}-says-${round}`, isAsync);
    // A steady load: processes must be able to start meanwhile, and queues must not grow without end.
    await this.pause(isAsync ? 400 : 60);
  }

  private async comeAndGo(n: number, round: number): Promise<void> {
    const key = `comer-${n}-comes-${round}`;
    const caller = this.caller(`comer-${n}`, n);
    const session = await this.create(caller, key);
    if (session === undefined) return;
    await this.say(caller, session, `${key}-says`, round % 3 === 0);
    if (round % 2 === 0) await this.end(caller, session);
    await this.pause(60);
  }

  private async create(caller: CarefulCaller, key: string): Promise<string | undefined> {
    const askedAt = this.ledger.now;
    const wish = { method: 'POST', path: '/sessions', body: { user_id: key } } as const;
    const answer = await caller.ask<Created>({ ...wish, headers: { 'idempotency-key': key } });
    if (answer === undefined) return undefined;
    const session = answer.body[caller.profile === 'a' ? 'session_id' : 'id'];
    if (answer.status === 201) this.ledger.write({ kind: 'session', key, session, askedAt });
    else this.violation(`${key}: a session was refused with ${answer.status}: ${answer.text}`);
    return answer.status === 201 ? session : undefined;
  }

  private async say(caller: CarefulCaller, session: string, key: string, isAsync: boolean): Promise<void> {
    const answer = await caller.ask<ModelOutput>({
      method: 'POST',
      path: `/sessions/${session}/messages`,
      body: { content: key },
      headers: { 'idempotency-key': key, ...(isAsync ? { prefer: 'respond-async' } : {}) },
    });
    if (answer === undefined) return;
    const { status } = answer;
    if (status === (isAsync ? 202 : 200)) {
      const { message_id: message, content } = answer.body;
      const said = { kind: 'message', key, caller: caller.name, session, message } as const;
      this.ledger.write(isAsync ? said : { ...said, answer: content });
    } else this.ledger.write({ kind: 'refused', key, session, status, reason: reasonOf(answer) });
  }

  /** A DELETE has no key. After a cut, a session that has already ended is as good as ended. */
  private async end(caller: CarefulCaller, session: string): Promise<void> {
    const answer = await caller.ask({ method: 'DELETE', path: `/sessions/${session}` });
    if (answer === undefined) return;
    const isEnded = answer.status < 300 || (answer.status === 409 && answer.wasCut);
    if (isEnded) this.ledger.write({ kind: 'ended', session });
    else this.violation(`${session}: its end was refused with ${answer.status}: ${answer.text}`);
  }

  private async set(round: number): Promise<void> {
    const value = 101 + round;
    const key = `setting-${round}`;
    const body = { 'agent.max_waiting': value };
    const answer = await this.caller('setter', 1).ask({
      method: 'PATCH',
      path: '/config',
      body,
      headers: { 'idempotency-key': key },
    });
    if (answer?.status === 200) this.ledger.write({ kind: 'setting', key, value });
    else if (answer !== undefined)
      this.violation(`${key}: a setting was refused with ${answer.status}: ${answer.text}`);
    await this.pause(700);
  }

  private async registerLate(round: number): Promise<void> {
    await this.pause(1500);
    if (round < this.size.lateHooks && !this.stopping.signal.aborted)
      await this.hooks.register(this.caller('registrar', round), `late-${round}`);
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  private violation(sentence: string): void {
    this.ledger.write({ kind: 'violation', sentence });
  }
}
