import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { BadRequest } from '../../../../common/errors/gateway-error.js';
import { readJsonObject } from '../../../../http/body/json-bytes.js';
import { Word } from '../../../../http/validation/field.decorator.js';
import { RequestValidationPipe } from '../../../../http/validation/request-validation.pipe.js';
import { type GrantedScope, grants, LacksScope, type Scope } from '../../../../platform/tokens/scopes.js';
import type { QuestionAnswer } from '../../../tools/tools.api.js';
import type { SentMessage } from '../../../turns/turns.api.js';
import { AnswerRequest, answerOf } from '../answer.requests.js';
import { newUserMessage, SendMessageRequest } from '../message.requests.js';

const DECISIONS = ['allow', 'deny'] as const;

/** A client's answer to a tool call that waits for approval. */
export class ToolApprovalRequest {
  @Word()
  approval_id!: string;

  @ApiProperty({ enum: DECISIONS })
  @IsIn(DECISIONS, { message: 'must be one of allow, deny' })
  decision!: (typeof DECISIONS)[number];
}

/** A client's answer to what a tool asks. */
export class ToolAnswerRequest extends AnswerRequest {
  @Word()
  question_id!: string;
}

export type ClientFrame =
  | { readonly type: 'message'; readonly message: SentMessage }
  | { readonly type: 'tool_approval'; readonly approvalId: string; readonly verdict: 'allowed' | 'denied' }
  | { readonly type: 'tool_answer'; readonly questionId: string; readonly answer: QuestionAnswer }
  | { readonly type: 'cancel' }
  | { readonly type: 'ping' };

const validation = new RequestValidationPipe();

/** Viewing needs no scope beyond that of the connection. */
const NEEDED = {
  message: 'sessions:write',
  cancel: 'sessions:write',
  tool_approval: 'approvals:write',
  tool_answer: 'sessions:write',
} as const satisfies Partial<Record<ClientFrame['type'], Scope>>;

/**
 * Reads a frame by the same rules as the body of a POST. Throws `BadRequest`, and `LacksScope` when the token may not send
 * it; the fields are not looked at then.
 */
export async function readClientFrame(
  data: Buffer,
  isBinary: boolean,
  scopes: readonly GrantedScope[],
): Promise<ClientFrame> {
  if (isBinary) throw new BadRequest('Frames are JSON text.');
  const { type, ...fields } = await readJsonObject(data);
  if (type === 'ping') return { type };
  if (!isNamed(type)) throw new BadRequest(`type: must be one of ${Object.keys(NEEDED).join(', ')}, ping`);
  if (!grants(scopes, NEEDED[type])) {
    throw new LacksScope(NEEDED[type]);
  }
  if (type === 'cancel') return { type };
  if (type === 'message') return { type, message: newUserMessage(await read(fields, SendMessageRequest)) };
  if (type === 'tool_answer') {
    const request = await read(fields, ToolAnswerRequest);
    return { type, questionId: request.question_id, answer: answerOf(request) };
  }
  const { approval_id: approvalId, decision } = await read(fields, ToolApprovalRequest);
  return { type, approvalId, verdict: decision === 'allow' ? 'allowed' : 'denied' };
}

function isNamed(type: unknown): type is keyof typeof NEEDED {
  return typeof type === 'string' && Object.hasOwn(NEEDED, type);
}

async function read<Body>(fields: object, metatype: new () => Body): Promise<Body> {
  return (await validation.transform(fields, { type: 'body', metatype })) as Body;
}
