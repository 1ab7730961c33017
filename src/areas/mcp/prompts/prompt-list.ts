import { setTimeout as sleep } from 'node:timers/promises';
import { sentenceOf } from '../../../common/errors/error-text.js';
import type { Logger } from '../../../platform/logging/logger.js';
import type { McpSession } from '../connection/mcp-session.js';
import type { ServerPrompt } from './server-prompt.js';

/** However often a server announces changes, its list is read no more often than this. */
const PAUSE_MS = 300;

/** The prompts of one server as it lists them. A list that cannot be read costs the prompts and nothing else. */
export class PromptList {
  private known: readonly ServerPrompt[] = [];
  private announced = 0;
  private reading: McpSession | undefined;

  constructor(
    private readonly server: string,
    private readonly logger: Logger,
  ) {}

  get prompts(): readonly ServerPrompt[] {
    return this.known;
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
        const prompts = await session.listPrompts(this.server, signal);
        if (this.reading === session) this.known = prompts;
      }
    } catch (error) {
      if (this.reading !== session || signal.aborted) return;
      this.known = [];
      this.logger.warn('its prompts could not be listed', { reason: sentenceOf(error) });
    } finally {
      if (this.reading === session) this.reading = undefined;
    }
  }
}
