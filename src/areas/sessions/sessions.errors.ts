import {
  BadRequest,
  Conflict,
  Forbidden,
  NotFound,
  ProviderFailed,
  Unavailable,
} from '../../common/errors/gateway-error.js';

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
  constructor(retryAfterSecs: number) {
    super('The session is busy with earlier messages. Send this one again when they have been answered.', {
      details: { reason: 'turn_in_progress' },
      retryAfterSecs,
    });
  }
}

export class UnknownMessage extends BadRequest {
  constructor() {
    const message = 'is not a message of this session';
    super(`before: ${message}`, { details: { fields: [{ path: 'before', message }] } });
  }
}

/** What stands in `Last-Event-ID` is no id of an event. */
export class BadLastEventId extends BadRequest {
  constructor() {
    const message =
      'is no id of an event; send the id of the last event as it came, or leave the header out to send a new message';
    super(`Last-Event-ID: ${message}`, { details: { fields: [{ path: 'Last-Event-ID', message }] } });
  }
}

/** The event in `Last-Event-ID` is of no turn of this session. */
export class UnknownEvent extends Conflict {
  constructor() {
    super(
      'Last-Event-ID is of no turn of this session, and nothing was done. Leave the header out to send a new message.',
      { details: { reason: 'unknown_last_event_id' } },
    );
  }
}

/** The event in `Last-Event-ID` is of the turn of another message than the one that was sent with it. */
export class EventOfOtherMessage extends Conflict {
  constructor() {
    super(
      'Last-Event-ID is of the turn of another message, and nothing was done. Send that message again to go on with ' +
        'its turn, or leave the header out to send this one as a new message.',
      { details: { reason: 'last_event_id_of_other_message' } },
    );
  }
}

/** The call was answered, has run out of time, belongs to another session, or never was. */
export class NoWaitingCall extends NotFound {
  constructor() {
    super('No such tool call waits in this session any more.');
  }
}

/** Who may write to a session drives the agent; to let it act takes another scope. */
export class MayNotApprove extends Forbidden {
  constructor() {
    super('This token lacks the scope "approvals:write". Ask for a token that has it.');
  }
}

/** Nobody lets others do what their own token may not. */
export class ToolNotYours extends Forbidden {
  constructor(tool: string) {
    super(`This token may not use the tool "${tool}", so it cannot allow the call either.`);
  }
}

export class OtherUser extends Forbidden {
  constructor() {
    super('This token is bound to one user and cannot create sessions for another.');
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

/** What a token began ends with it: a turn that runs, and an accepted message that waits. */
export class TurnOfRevokedToken extends TurnCancelled {
  constructor() {
    super('The access token that sent this message was revoked before it was answered.', 'token_revoked');
  }
}

/** A turn that failed, told again later: the cause was told when it happened. */
export class TurnUnanswered extends ProviderFailed {
  constructor() {
    super('The turn failed before it was answered.', { details: { reason: 'turn_failed' } });
  }
}

/** Somebody asked for the turn to end; the session goes on. */
export class TurnStopped extends TurnCancelled {
  constructor() {
    super('The answer to this message was cancelled. What it had said is in the history.');
  }
}

/** The lease ran out or the gateway stopped; the message is in the history, without an answer. */
export class TurnInterrupted extends Unavailable {
  constructor() {
    super(
      'The turn was interrupted before it was answered. The message is in the history; send it again if needed.',
      {
        details: { reason: 'turn_interrupted' },
        retryAfterSecs: 1,
      },
    );
  }
}

/** A turn that was interrupted, asked for again under its Idempotency-Key. */
export class TurnNotRepeated extends Conflict {
  constructor() {
    super(
      'The turn of the first request with this Idempotency-Key was interrupted, and it is not run again. ' +
        'The message is in the history; send it with a new key if it is still needed.',
      { details: { reason: 'turn_interrupted' } },
    );
  }
}
