import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { NotFound } from '../../common/errors/gateway-error.js';
import { familyOf } from '../../platform/tokens/caller.js';
import { AskTools } from './ask-tools.service.js';
import { AskedTurns, type Asker } from './asked-turns.service.js';
import { type CallEvent, messageIdOf } from './call-ids.js';
import type { ProgressListener } from './turn-progress.js';

const POLL_MS = 250;
/** A call whose connection was cut may not be in the database yet. */
const APPEARS_MS = 2000;

class UnknownCall extends NotFound {
  constructor() {
    super('Last-Event-ID is of no call of this MCP session. Call the tool again.');
  }
}

/** Continues calls whose stream was cut, on any replica. Starts nothing. */
@Injectable()
export class ResumedCalls {
  constructor(
    private readonly asks: AskTools,
    private readonly asked: AskedTurns,
  ) {}

  /** The turn of the call that the event belongs to. Throws `UnknownCall`. */
  async find(mcpSession: string, { requestId }: CallEvent, asker: Asker, gone: AbortSignal): Promise<string> {
    const messageId = messageIdOf(familyOf(asker.caller), mcpSession, requestId);
    const deadline = performance.now() + APPEARS_MS;
    for (;;) {
      const turnId = await this.asked.turnOf(messageId);
      if (turnId !== undefined) return turnId;
      if (gone.aborted || performance.now() > deadline) throw new UnknownCall();
      await sleep(POLL_MS);
    }
  }

  result(
    turnId: string,
    asker: Asker,
    gone: AbortSignal,
    listener: ProgressListener | undefined,
  ): Promise<CallToolResult> {
    return this.asks.result(turnId, { asker, gone, listener });
  }
}
