import { BadFields, type FieldProblem } from '../../../common/errors/gateway-error.js';
import { newId } from '../../../common/ids/typeid.js';
import {
  MAX_ATTACHED_BYTES,
  type NewAttachment,
  type RemoteAttachment,
  type SentMessage,
} from '../../turns/turns.api.js';
import type { AttachmentRequest, SendMessageRequest } from './message.requests.js';

const MAX_ATTACHMENTS = 10;

/** The rules of a message that no single field shows. Throws `BadFields`. */
export function newUserMessage(request: SendMessageRequest): SentMessage {
  BadFields.refuse(messageProblems(request));
  const attachments = (request.attachments ?? []).map(newAttachment);
  const bytes = attachments.reduce((sum, one) => sum + ('data' in one ? one.sizeBytes : 0), 0);
  if (bytes > MAX_ATTACHED_BYTES)
    throw new BadFields([{ path: 'attachments', message: 'must be at most 20 MiB decoded in all' }]);
  return { content: request.content ?? '', attachments };
}

/** Everything that is wrong with those parts of a message that are sound by themselves. */
export function messageProblems(
  { content = '', attachments = [] }: SendMessageRequest,
  isFaulty: (path: string) => boolean = () => false,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!isFaulty('content') && !isFaulty('attachments') && content.trim() === '' && attachments.length === 0)
    problems.push({ path: 'content', message: 'must not be empty unless there are attachments' });
  if (!Array.isArray(attachments)) return problems;
  for (const [index, attachment] of attachments.slice(0, MAX_ATTACHMENTS).entries()) {
    const path = `attachments.${index}`;
    if (isFaulty(`${path}.data`) || isFaulty(`${path}.url`)) continue;
    if ((attachment.data === undefined) === (attachment.url === undefined))
      problems.push({ path, message: 'must have exactly one of data and url' });
  }
  return problems;
}

function newAttachment({
  type,
  name: given,
  mime_type: mimeType,
  data,
  url,
}: AttachmentRequest): NewAttachment | RemoteAttachment {
  const name = given ?? null;
  if (url !== undefined) return { type, name, mimeType, url };
  const bytes = Buffer.from(data ?? '', 'base64');
  return { id: newId('att'), type, name, mimeType, sizeBytes: bytes.length, data: bytes };
}
