import { BadRequest, Conflict, Forbidden, NotFound } from '../../common/errors/gateway-error.js';
import { LacksScope } from '../../platform/tokens/scopes.js';
import type { ApprovalRecord, QuestionRecord } from '../tools/tools.api.js';

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

/** Somebody else decided first. */
export class ApprovalDecided extends Conflict {
  constructor(readonly record: ApprovalRecord) {
    const { status, decidedBy, decidedAt } = record;
    const when = decidedAt === null ? '' : ` at ${decidedAt.toISOString()}`;
    super(`This call was ${status} by ${decidedBy ?? 'somebody else'}${when}; the first decision counts.`, {
      details: { reason: 'already_decided' },
    });
  }
}

/** The question was withdrawn, has timed out, belongs to another session, or never existed. */
export class NoWaitingQuestion extends NotFound {
  constructor() {
    super('No such question of a tool waits in a session of yours any more.');
  }
}

/** Somebody else answered first. */
export class QuestionAnswered extends Conflict {
  constructor({ status, answeredBy, answeredAt }: QuestionRecord) {
    const when = answeredAt === null ? '' : ` at ${answeredAt.toISOString()}`;
    super(
      `This question was ${status} by ${answeredBy ?? 'somebody else'}${when}; the first answer counts.`,
      {
        details: { reason: 'already_answered' },
      },
    );
  }
}

/** Writing to a session needs one scope; allowing what the agent does needs another. */
export class MayNotApprove extends LacksScope {
  constructor() {
    super('approvals:write');
  }
}

/** `tools.approval.separate`: nobody decides about calls of their own message. */
export class OwnCall extends Forbidden {
  constructor() {
    super(
      'This call comes from a message of yours, and tools.approval.separate wants somebody else to decide. Ask a colleague who has approvals:write.',
    );
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
