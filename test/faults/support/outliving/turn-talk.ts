import { setTimeout as sleep } from 'node:timers/promises';
import type { TurnFleet } from './turn-fleet.js';

const SHARED = 4;
/** Until a message has a definite answer, whatever happens to replicas. */
const ANSWER_LIMIT_MS = 300_000;

/** A message that the gateway has acknowledged. */
export interface Accepted {
  readonly session: string;
  readonly caller: number;
  /** Unique. */
  readonly content: string;
}

/**
 * Careful callers. Each sends one message after the other, in its own session or a shared one, and repeats each
 * request with the same key at any replica until the answer is definite. Every second one does not wait for the
 * answer.
 */
export class TurnTalk {
  readonly accepted: Accepted[] = [];
  /** Definite refusals; there must be none. */
  readonly refused: string[] = [];
  private isOver = false;
  private sessions: readonly string[] = [];
  private talks: Promise<void>[] = [];

  constructor(
    private readonly fleet: TurnFleet,
    private readonly callers: number,
    private readonly random: () => number,
  ) {}

  async start(): Promise<void> {
    this.sessions = await Promise.all(
      Array.from({ length: SHARED + this.callers }, (_, n) => this.newSession(`session-${n}`)),
    );
    this.talks = Array.from({ length: this.callers }, (_, caller) => this.talk(caller));
  }

  /** Waits until everyone has the answer to their last message. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.talks);
  }

  private async talk(caller: number): Promise<void> {
    const isAsync = caller % 2 === 0;
    for (let n = 0; !this.isOver; n += 1) {
      const place = n % 2 === 0 ? SHARED + caller : caller % SHARED;
      const content = `caller-${caller}-says-${n}`;
      const session = this.sessions[place] as string;
      const headers = { 'idempotency-key': content, ...(isAsync ? { prefer: 'respond-async' } : {}) };
      const { status, text } = await this.ask(`/sessions/${session}/messages`, { content }, headers);
      if (status < 300) this.accepted.push({ session, caller, content });
      else this.refused.push(`${content}: ${status} ${text}`);
      if (isAsync) await sleep(1500 + this.random() * 3000);
    }
  }

  private async newSession(key: string): Promise<string> {
    const { body, status, text } = await this.ask('/sessions', {}, { 'idempotency-key': key });
    if (status !== 201) throw new Error(`No session: ${status} ${text}`);
    return body.id;
  }

  private async ask(path: string, body: object, headers: Record<string, string>) {
    const deadline = performance.now() + ANSWER_LIMIT_MS;
    for (;;) {
      const caller = this.fleet.any(this.random);
      const answer = await caller?.post<{ id: string }>(path, body, headers).catch(() => undefined);
      if (answer !== undefined && !answer.headers.has('retry-after')) return answer;
      if (performance.now() > deadline)
        throw new Error(`${headers['idempotency-key']} has no answer: ${answer?.text ?? 'nobody is there'}`);
      await sleep(answer === undefined ? 50 : 300);
    }
  }
}
