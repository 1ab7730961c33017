import { Injectable } from '@nestjs/common';
import { storedError } from '../../../common/errors/gateway-error.js';
import type { SqlRunner } from '../../../platform/database/sql.js';
import type { TokenEnding } from '../../../platform/tokens/token-endings.js';
import { TurnOfRevokedToken } from '../turns.errors.js';
import * as sql from './token-waiting-turns.sql.js';

/** Messages that wait end with the token that sent them. Turns that run are aborted by who runs them (`TurnWatch`), and those that are parked by who takes them up. */
@Injectable()
export class TokenWaitingTurns implements TokenEnding {
  async end(runner: SqlRunner, owners: readonly string[]): Promise<void> {
    await runner.query(sql.CANCEL_ACCEPTED, {
      owners,
      failure: JSON.stringify(storedError(new TurnOfRevokedToken())),
    });
    await runner.query(sql.LEAVE_QUEUES, { owners });
    await runner.query(sql.WAKE_PARKED, { owners });
  }
}
