import { BadRequest, Conflict } from '../../common/errors/gateway-error.js';

export class BadIdempotencyKey extends BadRequest {
  constructor() {
    const message = 'must be 1 to 255 visible ASCII characters, without blanks';
    super(`Idempotency-Key: ${message}`, { details: { fields: [{ path: 'Idempotency-Key', message }] } });
  }
}

/** A request that is not served because of its Idempotency-Key. */
export class KeyRefused extends Conflict {}

export class KeyReused extends KeyRefused {
  constructor() {
    super('This Idempotency-Key was used for another request. Send a new key with a new request.', {
      details: { reason: 'idempotency_key_reused' },
    });
  }
}

export class KeyInUse extends KeyRefused {
  constructor() {
    super('The first request with this Idempotency-Key is still being served. Ask again for its answer.', {
      details: { reason: 'idempotency_key_in_use' },
      retryAfterSecs: 1,
    });
  }
}

/** The replica that served the first request is gone; the request is not repeated. */
export class KeyInterrupted extends KeyRefused {
  constructor() {
    super(
      'The first request with this Idempotency-Key was cut off, and it is unknown whether it took effect. ' +
        'Check the current state; if the request is still needed, send it with a new key.',
      { details: { reason: 'idempotency_outcome_unknown' } },
    );
  }
}

/** Rolls a transaction back because its key was used before. Never reaches a caller. */
export class KeyAlreadyUsed extends Error {
  constructor() {
    super('The Idempotency-Key was used before.');
    this.name = new.target.name;
  }
}

/** Ends a request whose stored response has been sent. Never reaches a caller. */
export class AnswerReplayed extends Error {
  constructor() {
    super('The stored response was sent again.');
    this.name = new.target.name;
  }
}
