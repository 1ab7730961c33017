import { Conflict, NotFound, ProviderFailed, Unavailable } from '../../common/errors/gateway-error.js';
import type { DatabaseAway } from '../../platform/database/database-failure.js';
import type { TurnPause } from '../tools/tools.api.js';

/** The reason in everything that waits for a person. */
export const AWAITING_APPROVAL = 'awaiting_approval';

export class SessionNotFound extends NotFound {
  constructor() {
    super('There is no such session.');
  }
}

export class SessionEnded extends Conflict {
  constructor() {
    super('The session has ended. Create a new one with POST /sessions.', {
      details: { reason: 'session_ended' },
    });
  }
}

export class TurnInProgress extends Conflict {
  constructor(
    retryAfterSecs: number,
    sentence = 'The session is busy with earlier messages. Send this one again when they have been answered.',
    reason = 'turn_in_progress',
  ) {
    super(sentence, { details: { reason }, retryAfterSecs });
  }
}

/** The session was deleted while its turn ran. */
export class TurnCancelled extends Conflict {
  constructor(
    sentence = 'The session was ended while this message was being answered.',
    reason = 'turn_cancelled',
  ) {
    super(sentence, { details: { reason } });
  }
}

/** A turn or waiting message ends with the token that began it. */
export class TurnOfRevokedToken extends TurnCancelled {
  constructor() {
    super('The access token that sent this message was revoked before it was answered.', 'token_revoked');
  }
}

/** Repeats the failure of a turn later; the cause was reported when it happened. */
export class TurnUnanswered extends ProviderFailed {
  constructor() {
    super('The turn failed before it was answered.', { details: { reason: 'turn_failed' } });
  }
}

/** Neither the model's answer, nor its second one after it was told what is wrong, fitted `response_format`. */
export class ResponseFormatUnmet extends ProviderFailed {
  constructor(problem: string) {
    super(`The model did not answer in the format that was asked for: ${problem}.`, {
      details: { reason: 'response_format_unmet' },
    });
  }
}

/** Somebody asked for the turn to end; the session goes on. */
export class TurnStopped extends TurnCancelled {
  constructor() {
    super('The answer to this message was cancelled. What it had said is in the history.');
  }
}

/** The turn waits only for a person: any replica continues it when they decide. */
export class TurnAwaitsApproval extends Unavailable implements TurnPause {
  readonly goesOn = true;

  /** @param approvalIds the approvals that are open */
  constructor(readonly approvalIds: readonly string[]) {
    super(
      'The turn waits for a person who allows or denies its tool calls. Its answer will be in the history; the same request ' +
        'with its Idempotency-Key gets it, too.',
      { details: { reason: AWAITING_APPROVAL }, retryAfterSecs: 1 },
    );
  }
}

/** The session is busy with a turn that waits for a person. */
export class SessionAwaitsApproval extends TurnInProgress {
  constructor() {
    super(
      60,
      'The session is busy with a message whose tool calls wait for a person. Allow or deny them, or cancel the turn; then send this one again.',
      AWAITING_APPROVAL,
    );
  }
}

/** This replica stops and releases the turn; another one continues from the last step. */
export class TurnHandedOver extends Unavailable implements TurnPause {
  readonly goesOn = true;

  constructor(sentence = 'This replica stops and another one goes on with the turn.', cause?: unknown) {
    super(
      `${sentence} Its answer will be in the history; the same request with its Idempotency-Key gets it, too.`,
      { details: { reason: 'turn_handed_over' }, retryAfterSecs: 1, cause },
    );
  }
}

/** The same because the database was away for too long; this replica may continue the turn too. */
export class TurnWithoutDatabase extends TurnHandedOver {
  constructor(cause: DatabaseAway) {
    super('The database was away; the turn goes on when it is back.', cause);
  }
}

/** The lease expired or the gateway stopped; the message is in the history, without an answer. */
export class TurnInterrupted extends Unavailable implements TurnPause {
  readonly goesOn = true;

  constructor(cause?: unknown) {
    super(
      'The turn was interrupted on this replica. When another one goes on with it, its answer comes into the history; ' +
        'else the history says that it was interrupted, and the message can be sent again.',
      {
        details: { reason: 'turn_interrupted' },
        retryAfterSecs: 1,
        cause,
      },
    );
  }
}

/** A session keeps its agent, but this one was removed from the settings. */
export class AgentGone extends Conflict {
  constructor(name: string) {
    super(`The agent "${name}" of this session is no longer configured. Create a new session.`, {
      details: { reason: 'agent_gone' },
    });
  }
}

/** A turn that was interrupted, requested again under its Idempotency-Key. */
export class TurnNotRepeated extends Conflict {
  constructor() {
    super(
      'The turn of the first request with this Idempotency-Key was interrupted, and it is not run again. ' +
        'The message is in the history; send it with a new key if it is still needed.',
      { details: { reason: 'turn_interrupted' } },
    );
  }
}
