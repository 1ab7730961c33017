import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveTurn } from '../../turns/live-turn.js';
import type { OutboundReply } from '../channel-adapter.port.js';
import { LeaseLost } from '../channel-failures.js';
import type { ReplyStore } from './reply.store.js';
import type { SentReply } from './reply-sender.js';

/** Shorter beginnings are not worth a message. */
const MIN_CHARS = 40;
const MORE = ' …';
const TYPING_MS = 4000;

/**
 * Shows an answer while it is written: the typing sign, then its first part, edited as it grows. Whatever fails here
 * does no harm, since the whole answer is sent in any case.
 */
export class DraftWriter {
  private readonly over = new AbortController();
  private readonly working: Promise<unknown>;
  private shown = '';
  private externalId: string | undefined;

  constructor(
    private readonly reply: SentReply,
    private readonly store: ReplyStore,
    live: LiveTurn,
    intervalMs: number,
  ) {
    const { adapter } = reply;
    const edits = intervalMs > 0 && adapter.edit !== undefined;
    this.working = Promise.all([
      adapter.typing === undefined ? undefined : this.every(0, TYPING_MS, () => this.sign()),
      edits ? this.every(intervalMs, intervalMs, () => this.show(live.text())) : undefined,
    ]);
  }

  /** Resolves when nothing of it is on its way any more. */
  async end(): Promise<void> {
    this.over.abort();
    await this.working;
  }

  /** Until it is over, or the work fails once. */
  private async every(firstMs: number, nextMs: number, work: () => Promise<unknown>): Promise<void> {
    const { signal } = this.over;
    try {
      await sleep(firstMs, undefined, { signal });
      while (!signal.aborted) {
        await work();
        await sleep(nextMs, undefined, { signal });
      }
    } catch {
      // It is over, or the platform does not want it.
    }
  }

  private async sign(): Promise<void> {
    await this.reply.adapter.typing?.(this.reply.message.target, this.over.signal);
  }

  private async show(whole: string): Promise<void> {
    const { adapter, claim, message } = this.reply;
    const text = beginningOf(whole, adapter.longestReply);
    if (text.length < MIN_CHARS || text === this.shown) return;
    this.shown = text;
    const reply: OutboundReply = { target: message.target, text, key: `${message.messageId}_1` };
    // A piece that has begun to leave is not broken off: nobody would know whether it arrived.
    const { signal } = new AbortController();
    if (this.externalId !== undefined) {
      // Whoever has taken over may have said the whole answer by now.
      if (!(await this.store.holds(claim))) throw new LeaseLost();
      await adapter.edit?.(this.externalId, reply, signal);
      return;
    }
    if (!(await this.store.draft(claim, message, text))) throw new Error('there is a draft already');
    this.externalId = await adapter.send(reply, signal);
    if (this.externalId === undefined) throw new Error('it cannot be edited');
    await this.store.drafted(message, this.externalId);
  }
}

function beginningOf(text: string, longest: number): string {
  const cut = text.trim().slice(0, longest - MORE.length);
  // Half a character may stand at the end.
  return cut.replace(/[\ud800-\udbff]$/, '').trimEnd() + MORE;
}
