import { BadRequest, Conflict, Forbidden, NotFound } from '../../common/errors/gateway-error.js';
import type { ApprovalRecord } from '../tools/tools.api.js';

export class UnknownMessage extends BadRequest {
  constructor() {
    const message = 'is not a message of this session';
    super(`before: ${message}`, { details: { fields: [{ path: 'before', message }] } });
  }
}

/** The call was answered, has timed out, belongs to another session, or never existed. */
export class NoWaitingCall extends NotFound {
  constructor() {
    super('No such tool call waits in this session any more.');
  }
}

/** Somebody else was first. */
export class ApprovalDecided extends Conflict {
  constructor({ status, decidedBy, decidedAt }: ApprovalRecord) {
    const when = decidedAt === null ? '' : ` at ${decidedAt.toISOString()}`;
    super(`This call was ${status} by ${decidedBy ?? 'somebody else'}${when}; the first decision counts.`, {
      details: { reason: 'already_decided' },
    });
  }
}

/** Writing to a session needs one scope; allowing what the agent does needs another. */
export class MayNotApprove extends Forbidden {
  constructor() {
    super('This token lacks the scope "approvals:write". Ask for a token that has it.');
  }
}

/** A token cannot allow a call of a tool that it may not use itself. */
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
