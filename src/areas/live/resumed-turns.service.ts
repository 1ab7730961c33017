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

/** A turn that says it runs and that nobody shows is looked at again so often, until its lease has run out. */
const POLL_MS = 500;

/** Shows the one turn that a viewer had begun to see, from where it was cut, on whatever replica. Starts nothing. */
@Injectable()
export class ResumedTurns {
  constructor(
    private readonly feeds: SessionFeeds,
    private readonly records: TurnRecords,
    private readonly messages: MessageStore,
  ) {}

  /**
   * The turn of the event, which has to be that of this message. Throws `UnknownEvent` and `EventOfOtherMessage`.
   * @param turnId the only turn that it may be, when it is known
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

  /** Whether the viewer had seen all of it. */
  isSeen(seen: SeenEvent): boolean {
    return seen.steps === LAST_STEP;
  }

  /** Tells what follows the event, to the turn's end. */
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
    if (stored === undefined) return false;
    const bytes =
      stored.attachments.length === 0 ? new Map() : await this.messages.attachedTo([userMessageId]);
    return isSameMessage(stored, bytes, sent);
  }
}

/** Steps are not kept with the history: the text goes on where it was, and the end holds the tool calls. */
function replayTo(viewer: Viewer, seen: SeenEvent, { sessionId, answer: said, error }: TurnRecord): void {
  const failure = error instanceof TurnNotRepeated ? new TurnInterrupted() : error;
  viewer.follow(replayed(sessionId, seen.turnId, said, failure), { chars: seen.chars, steps: 0 });
}

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
