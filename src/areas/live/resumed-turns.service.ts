import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { storableText } from '../../platform/database/storable-text.js';
import {
  type AttachmentInfo,
  LAST_STEP,
  type LiveTurn,
  type Message,
  MessageStore,
  type SentMessage,
  TurnInterrupted,
  TurnNotRepeated,
} from '../turns/turns.api.js';
import { EventOfOtherMessage, type SeenEvent, UnknownEvent } from './event-id.js';
import { SessionFeeds } from './remote/session-feeds.service.js';
import { replayed, type TurnRecord, TurnRecords } from './turn-records.store.js';
import type { Viewer } from './viewer.js';

/** How often a turn that is recorded as running, but that no replica shows, is looked up again until its lease expires. */
const POLL_MS = 500;

/** Shows a viewer the rest of the turn that it was cut off from, on any replica. Starts nothing. */
@Injectable()
export class ResumedTurns {
  constructor(
    private readonly feeds: SessionFeeds,
    private readonly records: TurnRecords,
    private readonly messages: MessageStore,
  ) {}

  /**
   * Finds the event's turn, which must be the turn of this message. Throws `UnknownEvent` and `EventOfOtherMessage`.
   * @param turnId the turn that it has to be, when it is known
   */
  async find(
    sessionId: string,
    seen: SeenEvent,
    sent: SentMessage,
    turnId: string | undefined,
  ): Promise<TurnRecord> {
    const record = await this.records.find(seen.turnId);
    if (record?.sessionId !== sessionId || record.status === 'waiting') throw new UnknownEvent();
    const isOther = turnId !== undefined && turnId !== seen.turnId;
    if (isOther || !(await this.isOf(record, sent))) throw new EventOfOtherMessage();
    return record;
  }

  /** Whether the viewer has seen the whole turn. */
  isSeen(seen: SeenEvent): boolean {
    return seen.steps === LAST_STEP;
  }

  /** Shows what follows the event, up to the turn's end. */
  async show(viewer: Viewer, seen: SeenEvent, record: TurnRecord): Promise<void> {
    if (record.status === 'over') {
      replayTo(viewer, seen, record);
      return;
    }
    let isShown = false;
    const turnStarted = (turn: LiveTurn): void => {
      if (isShown || turn.turnId !== seen.turnId) return;
      isShown = true;
      viewer.follow(turn, seen);
    };
    viewer.onEnd(await this.feeds.watch(record.sessionId, { turnStarted }));
    while (!isShown && viewer.isOpen) {
      const now = await this.records.find(seen.turnId);
      if (now?.status === 'over') {
        isShown = true;
        replayTo(viewer, seen, now);
      } else await sleep(POLL_MS, undefined, { ref: false });
    }
  }

  private async isOf({ userMessageId }: TurnRecord, sent: SentMessage): Promise<boolean> {
    const stored = await this.messages.sent(userMessageId);
    if (stored === undefined || !mayBeSame(stored, sent)) return false;
    const bytes = sent.attachments.some((one) => 'data' in one)
      ? await this.messages.attachedTo([userMessageId])
      : NO_BYTES;
    return isSameMessage(stored, bytes, sent);
  }
}

/** The history keeps no steps: the text continues where it stopped, and the last event holds the tool calls. */
function replayTo(viewer: Viewer, seen: SeenEvent, { sessionId, answer: said, error }: TurnRecord): void {
  const failure = error instanceof TurnNotRepeated ? new TurnInterrupted() : error;
  viewer.follow(replayed(sessionId, seen.turnId, said, failure), { chars: seen.chars, steps: 0 });
}

const NO_BYTES: ReadonlyMap<string, Buffer> = new Map();

type StoredMessage = Pick<Message, 'content' | 'attachments'>;

/** What can be said without the bytes of its attachments, which may be many. */
function mayBeSame({ content, attachments }: StoredMessage, sent: SentMessage): boolean {
  return (
    content === storableText(sent.content) &&
    attachments.length === sent.attachments.length &&
    attachments.every(({ sizeBytes }, index) => {
      const other = sent.attachments[index];
      return other === undefined || !('data' in other) || other.sizeBytes === sizeBytes;
    })
  );
}

type SentAttachment = SentMessage['attachments'][number];

/**
 * Whether a message that is sent again is the stored one. Of an attachment given by URL, only its type and name are
 * compared: the URL is not fetched again.
 */
function isSameMessage(
  stored: StoredMessage,
  bytes: ReadonlyMap<string, Buffer>,
  sent: SentMessage,
): boolean {
  return (
    mayBeSame(stored, sent) &&
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
