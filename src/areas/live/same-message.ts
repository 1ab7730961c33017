import { storableText } from '../../platform/database/storable-text.js';
import type { AttachmentInfo, Message, SentMessage } from '../turns/turns.api.js';

type SentAttachment = SentMessage['attachments'][number];

/**
 * Whether a message that is sent is the one that is stored. Of an attachment that is to be fetched, the bytes and the
 * media type are those of the first time: its URL is not asked again.
 */
export function isSameMessage(
  stored: Pick<Message, 'content' | 'attachments'>,
  bytes: ReadonlyMap<string, Buffer>,
  sent: SentMessage,
): boolean {
  return (
    stored.content === storableText(sent.content) &&
    stored.attachments.length === sent.attachments.length &&
    stored.attachments.every((kept, index) =>
      isSameAttachment(kept, bytes.get(kept.id), sent.attachments[index]),
    )
  );
}

function isSameAttachment(
  kept: AttachmentInfo,
  bytes: Buffer | undefined,
  sent: SentAttachment | undefined,
): boolean {
  if (sent?.type !== kept.type || sent.name !== kept.name) return false;
  return 'url' in sent || (sent.mimeType === kept.mimeType && bytes?.equals(sent.data) === true);
}
