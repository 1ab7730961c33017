import { parseJsonObject } from '../../../edge/json-bytes.js';
import { RequestValidationPipe } from '../../../edge/request-validation.pipe.js';
import { BadRequest } from '../../../errors/gateway-error.js';
import type { NewUserMessage } from '../../message.js';
import { SendMessageRequest } from '../message.requests.js';
import { newUserMessage } from '../new-user-message.js';

export type ClientFrame =
  | { readonly type: 'message'; readonly message: NewUserMessage }
  | { readonly type: 'cancel' }
  | { readonly type: 'ping' };

const validation = new RequestValidationPipe();

/** Reads what a client sent, by the same rules as the body of a POST. Throws `BadRequest`. */
export async function readClientFrame(data: Buffer, isBinary: boolean): Promise<ClientFrame> {
  if (isBinary) throw new BadRequest('Frames are JSON text.');
  const { type, ...fields } = parseJsonObject(data);
  if (type === 'cancel' || type === 'ping') return { type };
  if (type !== 'message') throw new BadRequest('type: must be one of message, cancel, ping');
  const body: unknown = await validation.transform(fields, { type: 'body', metatype: SendMessageRequest });
  return { type, message: newUserMessage(body as SendMessageRequest) };
}
