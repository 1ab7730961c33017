import { setTimeout as sleep } from 'node:timers/promises';
import { sentenceOf } from '../../../common/errors/error-text.js';
import type { Logger } from '../../../platform/logging/logger.js';
import type { McpSession } from '../connection/mcp-session.js';
import { MAX_NAME, MAX_PROMPTS, type PromptListing, type ServerPrompt } from './server-prompt.js';

/** However often a server announces changes, its list is read no more often than this. */
const PAUSE_MS = 300;

/** The prompts of one server as it lists them. When the list cannot be read, only the prompts are missing. */
export class PromptList {
  private known: readonly ServerPrompt[] = [];
  private why: string | undefined;
  private announced = 0;
  private reading: McpSession | undefined;

  constructor(
    private readonly server: string,
    private readonly logger: Logger,
    private readonly redact: (text: string) => string,
  ) {}

  get prompts(): readonly ServerPrompt[] {
    return this.known;
  }

  /** What operators should know about it: that prompts are left out, or cannot be listed. Ends with a full stop. */
  get problem(): string | undefined {
    return this.why;
  }

  /** Reads the list anew, one at a time. Never rejects. */
  async refresh(session: McpSession, signal: AbortSignal): Promise<void> {
    this.announced += 1;
    if (this.reading === session) return;
    this.reading = session;
    try {
      for (let seen = -1; seen < this.announced && !signal.aborted; ) {
        if (seen >= 0) await sleep(PAUSE_MS, undefined, { signal, ref: false });
        seen = this.announced;
        const listing = await session.listPrompts(this.server, signal);
        if (this.reading === session) this.take(listing);
      }
    } catch (error) {
      if (this.reading !== session || signal.aborted) return;
      this.known = [];
      const reason = this.redact(sentenceOf(error));
      this.why = `Its prompts could not be listed: ${reason}`;
      this.logger.warn('its prompts could not be listed', { reason });
    } finally {
      if (this.reading === session) this.reading = undefined;
    }
  }

  private take({ prompts, leftOut }: PromptListing): void {
    this.known = prompts;
    const before = this.why;
    this.why =
      leftOut === 0
        ? undefined
        : `At least ${leftOut} of its prompts cannot be asked for: ${MAX_PROMPTS} of a server can, with names of ${MAX_NAME} characters.`;
    if (this.why !== undefined && this.why !== before)
      this.logger.warn('prompts of the server are left out', {
        left_out: leftOut,
        most: MAX_PROMPTS,
        longest_name: MAX_NAME,
      });
  }
}
