import { Injectable, type OnModuleInit } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { DueWork } from '../../../platform/runtime/due-work.service.js';
import { McpServers } from '../mcp-servers.service.js';
import { SIGN_IN_CHANGES } from './sign-ins.sql.js';
import { SignIns } from './sign-ins.store.js';
import { SignedInTokens } from './signed-in-tokens.js';

const EVERY_MS = 1500;

/** Tells the connections of this replica of sign-ins and sign-outs, wherever they were made. */
@Injectable()
export class SignInWatch implements OnModuleInit {
  private readonly logger: Logger;
  /** How often each was changed, as this replica last saw it. */
  private known: ReadonlyMap<string, number> | undefined;
  private sum: number | undefined;
  private following: Promise<void> | undefined;

  constructor(
    private readonly signIns: SignIns,
    private readonly tokens: SignedInTokens,
    private readonly servers: McpServers,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.logger = logs.for('mcp');
  }

  onModuleInit(): void {
    this.due.watch({
      question: SIGN_IN_CHANGES,
      everyMs: EVERY_MS,
      onAnswer: (sum) => {
        if (sum !== undefined && sum !== this.sum) void this.follow();
      },
    });
  }

  /**
   * Connects what was signed in to, here or elsewhere, and disconnects what was signed out of. Who is connected stays so: the next request
   * has the new token. Never rejects.
   */
  async follow(): Promise<void> {
    while (this.following !== undefined) await this.following;
    this.following = this.look().finally(() => (this.following = undefined));
    await this.following;
  }

  private async look(): Promise<void> {
    try {
      const all = await this.signIns.all();
      for (const [name, { changes, isSignedIn }] of all) {
        if (this.known?.get(name) === changes) continue;
        this.tokens.forget(name);
        // At the first look, what was signed in to before it could be seen.
        const isOut = this.known !== undefined && !isSignedIn;
        if (isOut || this.servers.isDown(name)) this.servers.restart(name);
      }
      this.known = new Map([...all].map(([name, { changes }]) => [name, changes]));
      this.sum = [...this.known.values()].reduce((sum, changes) => sum + changes, 0);
    } catch (error) {
      this.logger.warn('sign-ins to tool servers could not be read; will retry', {
        error: sentenceOf(error),
      });
    }
  }
}
