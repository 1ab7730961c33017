import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../../common/errors/gateway-error.js';
import { Database } from '../../../../platform/database/database.js';
import { integer, json, nullable, text } from '../../../../platform/database/sql-types.js';
import { statement } from '../../../../platform/database/statement.js';
import { Logs } from '../../../../platform/logging/logger.js';
import { Slots } from '../../../../platform/runtime/slots.js';
import { type TurnFile, TurnFiles } from '../../../turns/turns.api.js';
import type { AdapterData } from '../../channel-adapter.port.js';
import { REPLY_TEXTS, sentFile, unsentFile } from '../../replies/reply-text.js';
import type { AcceptedFile, TeamsAdapter } from './teams.adapter.js';
import type { FileConsent } from './teams-files.js';

type OfferedFile = TurnFile & {
  /** It is where its reader wanted it. */
  readonly isHandedOver?: true;
};

/** A file that was sent to a conversation, by the part of the answer that it is. */
const OFFERED = statement({
  name: 'channel_teams.offered_file',
  params: { channel: text, conversation: text, message: text, part: integer },
  row: { file: json<OfferedFile>(), target: json<AdapterData>(), external_id: nullable(text) },
  sql: `
    SELECT reply.file, said.target, reply.external_id
    FROM channel_messages AS said JOIN channel_replies AS reply ON reply.message_id = said.message_id
    WHERE said.channel = :channel AND said.message_id = :message AND said.target->>'conversation' = :conversation
      AND reply.part = :part AND reply.file IS NOT NULL`,
});

const HANDED_OVER = statement({
  name: 'channel_teams.handed_over',
  params: { message: text, part: integer },
  row: {},
  sql: `
    UPDATE channel_replies SET file = (file::jsonb || '{"isHandedOver": true}')::json
    WHERE message_id = :message AND part = :part AND file IS NOT NULL`,
});

/** How many files are uploaded at once, and are in memory for that; more wait. */
const MAX_AT_ONCE = 8;

/** The uploads of a conversation: one at a time, so that a place that does not answer keeps nobody else waiting. */
interface Uploads {
  readonly slots: Slots;
  /** By the part of the answer: another click meanwhile gets the same outcome. */
  readonly running: Map<string, Promise<void>>;
}

type WantedFile = Pick<AcceptedFile, 'target' | 'card' | 'upload'> & { readonly file: TurnFile };

/** Where somebody decided. */
export interface ConsentPlace {
  readonly channel: string;
  readonly conversation: string;
  readonly adapter: TeamsAdapter;
}

/**
 * Hands a file over when its reader agrees: Teams then names a place in their OneDrive. Any replica does, and the bytes stay
 * until that is done; what a changed client makes up finds only files of its own conversation.
 */
@Injectable()
export class TeamsFileConsents {
  private readonly slots = new Slots(MAX_AT_ONCE);
  /** By channel and conversation. */
  private readonly uploads = new Map<string, Uploads>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly database: Database,
    private readonly files: TurnFiles,
    private readonly logs: Logs,
  ) {}

  /** The gateway stops: uploads are aborted, and another click reaches another replica. */
  endAll(): void {
    this.stopping.abort();
  }

  /** Throws `Unavailable` when it was not handed over, so that Teams asks the person to try again. */
  receive(place: ConsentPlace, consent: FileConsent): Promise<void> {
    if (consent.upload === null) return this.decide(place, consent);
    const conversation = JSON.stringify([place.channel, place.conversation]);
    const uploads: Uploads = this.uploads.get(conversation) ?? { slots: new Slots(1), running: new Map() };
    this.uploads.set(conversation, uploads);
    const { slots, running } = uploads;
    const part = `${consent.messageId} ${consent.part}`;
    const known = running.get(part);
    if (known !== undefined) return known;
    const decided = slots
      .run(() => this.slots.run(() => this.decide(place, consent)))
      .finally(() => {
        running.delete(part);
        if (running.size === 0) this.uploads.delete(conversation);
      });
    running.set(part, decided);
    return decided;
  }

  private async decide(
    { channel, conversation, adapter }: ConsentPlace,
    consent: FileConsent,
  ): Promise<void> {
    const { messageId: message, part, upload } = consent;
    const [offered] = await this.database.query(OFFERED, { channel, conversation, message, part });
    if (offered === undefined) return;
    const { file, target } = offered;
    const card = offered.external_id ?? consent.card;
    try {
      const { signal } = this.stopping;
      if (upload === null) await adapter.removeCard(target, card, signal);
      else if (file.isHandedOver === true) await adapter.tell(target, sentFile(file.name), signal);
      else if (await this.upload(adapter, { file, target, card, upload }))
        await this.database.query(HANDED_OVER, { message, part });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.logs
        .for(`channel::${channel}`)
        .warn('a file was not handed over; its reader may try again', { reason });
      throw new Unavailable('The file could not be handed over. Please try again.');
    }
    await this.files.forgetOne(file);
  }

  /** @returns whether the file was still kept; if not, its reader was told */
  private async upload(adapter: TeamsAdapter, wanted: WantedFile): Promise<boolean> {
    const { signal } = this.stopping;
    signal.throwIfAborted();
    const { file, target, card, upload } = wanted;
    const data = await this.files.read(file);
    if (data === undefined) await adapter.tell(target, unsentFile(file.name, REPLY_TEXTS.fileGone), signal);
    else await adapter.handOver({ target, card, data, mimeType: file.mimeType, upload }, signal);
    return data !== undefined;
  }
}
