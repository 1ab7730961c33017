import { BadRequest, Conflict, Forbidden, NotFound } from '../../common/errors/gateway-error.js';

export class HookNotFound extends NotFound {
  constructor() {
    super('There is no such webhook.');
  }
}

/** A webhook that was given up stays inactive until an operator replays it. */
export class HookGivenUp extends Conflict {
  constructor(hookId: string, reason: string | null) {
    super(
      `The webhook was given up (${reason ?? 'unknown'}) and gets nothing any more. "agent-gateway hooks replay ${hookId}" makes it active again and sends what it missed.`,
    );
  }
}

/** A webhook that cannot be reactivated. */
export class HookEnded extends Conflict {
  constructor() {
    super('The webhook ended when the token that made it was revoked. Register it again with another token.');
  }
}

export class TooManyHooks extends BadRequest {
  constructor(most: number) {
    super(`There are ${most} webhooks already, which is the most. Delete one first.`, {
      details: { reason: 'too_many_hooks' },
    });
  }
}

/** The token has reached `limits.hooks_per_api_token`; other tokens can still register webhooks. */
export class TooManyHooksOfToken extends BadRequest {
  constructor(most: number) {
    super(
      `This API token has ${most} webhooks, which is the most (limits.hooks_per_api_token). Delete one first.`,
      { details: { reason: 'api_token_hooks' } },
    );
  }
}

/** The audit is for callers that may read it. */
export class AuditNotReadable extends Forbidden {
  constructor() {
    super(
      'A webhook for "audit.*" needs the scope "audit:read", which this token lacks. Ask for a token that has it.',
    );
  }
}

/** One task, one token or all of them have as many push notifications as they may. */
export class TooManyTaskHooks extends BadRequest {
  constructor(what: string) {
    super(what, { details: { reason: 'too_many_push_notifications' } });
  }
}
