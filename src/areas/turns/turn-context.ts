import type { ContentPart, ModelMessage } from '../models/models.api.js';
import type { AttachmentInfo, Message, NewUserMessage } from './message.js';

/** The history and the new message as a model reads them. Tool calls of earlier turns stay in those turns. */
export function modelMessages(
  history: readonly Message[],
  bytes: ReadonlyMap<string, Buffer>,
  message: Pick<NewUserMessage, 'content' | 'attachments'>,
): ModelMessage[] {
  const fresh = new Map(message.attachments.map(({ id, data }) => [id, data]));
  return [
    ...fromFirstUser(history).map((said) => earlier(said, bytes)),
    { role: 'user', parts: parts(message.content, message.attachments, fresh) },
  ];
}

/** Models want a user to begin, and no message without text. */
function fromFirstUser(history: readonly Message[]): readonly Message[] {
  const begin = history.findIndex(({ role }) => role === 'user');
  if (begin === -1) return [];
  return history.slice(begin).filter(({ role, content }) => role === 'user' || content.trim() !== '');
}

function earlier(said: Message, bytes: ReadonlyMap<string, Buffer>): ModelMessage {
  return said.role === 'user'
    ? { role: 'user', parts: parts(said.content, said.attachments, bytes) }
    : { role: 'assistant', text: asSaid(said), toolCalls: [] };
}

/** A model that does not know that it was cut off takes the fragment for what it meant to say. */
function asSaid({ content, incomplete }: Message): string {
  return incomplete === null
    ? content
    : `${content}\n\n[This answer was cut off: ${incomplete}.]`.trimStart();
}

function parts(
  text: string,
  attachments: readonly AttachmentInfo[],
  bytes: ReadonlyMap<string, Buffer>,
): ContentPart[] {
  const attached = attachments.flatMap((info): ContentPart[] => {
    const data = bytes.get(info.id);
    return data === undefined ? [] : [attachmentPart(info, data.toString('base64'))];
  });
  return text.trim() === '' ? attached : [...attached, { type: 'text', text }];
}

function attachmentPart(info: AttachmentInfo, data: string): ContentPart {
  const { mimeType } = info;
  return info.type === 'image' || (info.type === 'file' && isPicture(mimeType))
    ? { type: 'image', mimeType, data }
    : { type: 'file', name: info.name ?? info.type, mimeType, data };
}

/** A picture is shown also when it was attached as a file; one that is text (SVG) can be read. */
function isPicture(mimeType: string): boolean {
  return mimeType.startsWith('image/') && !mimeType.endsWith('+xml');
}
