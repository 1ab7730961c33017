import { Injectable } from '@nestjs/common';
import { storedError } from '../../../common/errors/gateway-error.js';
import { Database } from '../../../platform/database/database.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { NewUserMessage } from '../message.js';
import { MessageStore } from '../message.store.js';
import type { WaitingTurn } from '../turn.store.js';
import { SessionEnded } from '../turns.errors.js';
import * as sql from './accepted-turns.sql.js';

const MAX_AT_ONCE = 50;

/** An accepted message that waits, and its sender. */
export interface AcceptedTurn extends WaitingTurn {
  readonly caller: Caller;
  /** Its session has ended: it cannot be answered any more. */
  readonly isTooLate: boolean;
}

/** Messages that were accepted while their session was busy; any replica may answer them. */
@Injectable()
export class AcceptedTurnsStore {
  constructor(
    private readonly database: Database,
    private readonly messages: MessageStore,
  ) {}

  /** Messages that can be handled now, for each API token and each ended session in order of arrival. */
  async due(timeoutSecs: number): Promise<AcceptedTurn[]> {
    const rows = await this.database.query(sql.DUE, { timeoutSecs, most: MAX_AT_ONCE });
    return rows.map((row) => ({
      turnId: row.id,
      sessionId: row.session_id,
      userMessageId: row.user_message_id,
      isAccepted: true as const,
      caller: row.caller,
      isTooLate: row.ended,
    }));
  }

  /** Whether any waits. */
  async any(): Promise<boolean> {
    return (await this.database.query(sql.ANY))[0]?.any === true;
  }

  /** As it was sent. Undefined when it was deleted with its session. */
  async message({ sessionId, userMessageId }: WaitingTurn): Promise<NewUserMessage | undefined> {
    const [said] = await this.database.query(sql.MESSAGE, { session: sessionId, message: userMessageId });
    if (said === undefined) return undefined;
    const bytes = said.attachments.length > 0 ? await this.messages.attachedTo([userMessageId]) : undefined;
    const attachments = said.attachments.map((info) => ({
      ...info,
      data: bytes?.get(info.id) ?? Buffer.alloc(0),
    }));
    return { id: userMessageId, content: said.content, attachments, options: said.options ?? undefined };
  }

  /** Gives a message of an ended session its place in the history. */
  async cancel({ turnId }: WaitingTurn): Promise<void> {
    await this.database.query(sql.CANCEL_ENDED, {
      turn: turnId,
      failure: JSON.stringify(storedError(new SessionEnded())),
    });
  }
}
