import { parseJsonObject } from '../../../edge/json-bytes.js';
import { RequestValidationPipe } from '../../../edge/request-validation.pipe.js';
import { BadRequest } from '../../../errors/gateway-error.js';
import type { SentMessage } from '../../message.js';
import { SendMessageRequest } from '../message.requests.js';
import { newUserMessage } from '../new-user-message.js';
import { ToolApprovalRequest } from './tool-approval.request.js';

export type ClientFrame =
  | { readonly type: 'message'; readonly message: SentMessage }
  | { readonly type: 'tool_approval'; readonly approvalId: string; readonly verdict: 'allowed' | 'denied' }
  | { readonly type: 'cancel' }
  | { readonly type: 'ping' };

const validation = new RequestValidationPipe();

/** Reads what a client sent, by the same rules as the body of a POST. Throws `BadRequest`. */
export async function readClientFrame(data: Buffer, isBinary: boolean): Promise<ClientFrame> {
  if (isBinary) throw new BadRequest('Frames are JSON text.');
  const { type, ...fields } = parseJsonObject(data);
  if (type === 'cancel' || type === 'ping') return { type };
  if (type === 'tool_approval') {
    const { approval_id: approvalId, decision } = await read(fields, ToolApprovalRequest);
    return { type, approvalId, verdict: decision === 'allow' ? 'allowed' : 'denied' };
  }
  if (type !== 'message') throw new BadRequest('type: must be one of message, cancel, tool_approval, ping');
  return { type, message: newUserMessage(await read(fields, SendMessageRequest)) };
}

async function read<Body>(fields: object, metatype: new () => Body): Promise<Body> {
  return (await validation.transform(fields, { type: 'body', metatype })) as Body;
}
