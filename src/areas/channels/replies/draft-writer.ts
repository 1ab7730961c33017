import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveTurn } from '../../turns/turns.api.js';
import type { OutboundReply } from '../channel-adapter.port.js';
import { LeaseLost } from '../channel-failures.js';
import { closedMarkdown } from '../formatting/closed-markdown.js';
import type { ReplyStore } from './reply.store.js';
import type { SentReply } from './reply-sender.js';

/** Shorter drafts are not shown. */
const MIN_CHARS = 40;
const ELLIPSIS = ' …';
/** For the marks that end what is still open. */
const CLOSING_ROOM = 8;
const TYPING_MS = 4000;

/**
 * Shows an answer while it is written: the typing indicator, then its first part, edited as it grows. Failures do no harm,
 * since the complete answer is sent in any case.
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
      adapter.typing === undefined ? undefined : this.every(0, TYPING_MS, () => this.showTyping()),
      edits ? this.every(intervalMs, intervalMs, () => this.show(live.text())) : undefined,
    ]);
  }

  /** Resolves when no call of it is running any more. */
  async end(): Promise<void> {
    this.over.abort();
    await this.working;
  }

  /** Repeats the work until `end`, or until it fails. */
  private async every(firstMs: number, nextMs: number, work: () => Promise<unknown>): Promise<void> {
    const { signal } = this.over;
    try {
      await sleep(firstMs, undefined, { signal });
      while (!signal.aborted) {
        await work();
        await sleep(nextMs, undefined, { signal });
      }
    } catch {
      // `end` was called, or the platform refused.
    }
  }

  private async showTyping(): Promise<void> {
    await this.reply.adapter.typing?.(this.reply.message.target, this.over.signal);
  }

  private async show(whole: string): Promise<void> {
    const { adapter, claim, message } = this.reply;
    const text = draftOf(whole, adapter.maxReplyLength);
    if (text.length < MIN_CHARS || text === this.shown) return;
    this.shown = text;
    const reply: OutboundReply = { target: message.target, text, key: `${message.messageId}_1` };
    // A request under way is not aborted: it would be unknown whether it arrived.
    const { signal } = new AbortController();
    if (this.externalId !== undefined) {
      // Another replica may have taken over and sent the complete answer.
      if (!(await this.store.holds(claim))) throw new LeaseLost();
      await adapter.edit?.(this.externalId, reply, signal);
      return;
    }
    if (!(await this.store.draft(claim, message, text))) throw new Error('there is a draft already');
    this.externalId = await adapter.send(reply, signal);
    if (this.externalId === undefined) throw new Error('the draft cannot be edited');
    await this.store.drafted(message, this.externalId);
  }
}

function draftOf(text: string, longest: number): string {
  const room = longest - ELLIPSIS.length - CLOSING_ROOM;
  const cut = text.trim().slice(0, room);
  // The cut may have left half a surrogate pair.
  const draft = cut.replace(/[\ud800-\udbff]$/, '').trimEnd();
  return closedMarkdown(draft, ELLIPSIS);
}
