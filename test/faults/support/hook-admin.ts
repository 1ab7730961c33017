import { type HookReceiver, type ReceivedAttempt } from '../../harness/hook-receiver.js';
import { verifyAttempt } from '../../harness/webhook-judges.js';
import type { CarefulCaller } from './careful-caller.js';
import type { Ledger } from './ledger.js';
import type { Stage } from './stage.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Registers webhooks, and checks every attempt when it arrives: a signature is valid for five minutes. */
export class HookAdmin {
  readonly paths: string[] = [];
  private readonly receiver: HookReceiver;
  private readonly bodies = new Map<string, string>();

  constructor(
    private readonly stage: Stage,
    private readonly ledger: Ledger,
  ) {
    this.receiver = stage.receiver;
    this.receiver.behaviour = (attempt, response) => {
      this.judge(attempt);
      return this.behave(response);
    };
  }

  async register(caller: CarefulCaller, name: string): Promise<void> {
    const path = `/${name}`;
    const body = { url: `${this.stage.way('receiver').url}${path}`, events: ['*'], secret: SECRET };
    const headers = { 'idempotency-key': `hook-${name}` };
    const answer = await caller.ask<{ id: string }>({ method: 'POST', path: '/hooks', body, headers });
    if (answer === undefined) return;
    if (answer.status === 201) {
      this.paths.push(path);
      this.ledger.write({ kind: 'hook', key: `hook-${name}`, hook: answer.body.id, path });
    } else this.violation(`a webhook was refused with ${answer.status}: ${answer.text}`);
  }

  /** Every attempt has the same id and the same bytes, and a signature that third-party libraries accept. */
  private judge(attempt: ReceivedAttempt): void {
    const { path, headers, body, json } = attempt;
    const which = `${path} ${json.id}`;
    if (headers['webhook-id'] !== json.id) this.violation(`${which}: its header names another id`);
    const before = this.bodies.get(which);
    if (before !== undefined && before !== body)
      this.violation(`${which}: another body than before: ${body}`);
    this.bodies.set(which, body);
    try {
      verifyAttempt(attempt, SECRET);
    } catch (error) {
      this.violation(`${which}: its signature does not verify: ${String(error)}`);
    }
  }

  /** Mostly answers well; sometimes it fails, stays silent or cuts the connection. */
  private behave(response: { destroy(): void }): number | 'handled' {
    const draw = Math.random();
    if (draw < 0.92) return 200;
    if (draw < 0.96) return 500;
    if (draw < 0.98) response.destroy();
    return 'handled';
  }

  private violation(sentence: string): void {
    this.ledger.write({ kind: 'violation', sentence });
  }
}
