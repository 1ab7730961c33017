import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../../common/errors/gateway-error.js';
import { Database } from '../../../../platform/database/database.js';
import { integer, json, nullable, text } from '../../../../platform/database/sql-types.js';
import { statement } from '../../../../platform/database/statement.js';
import { Logs } from '../../../../platform/logging/logger.js';
import { type TurnFile, TurnFiles } from '../../../turns/turns.api.js';
import type { AdapterData } from '../../channel-adapter.port.js';
import { REPLY_TEXTS, unsentFile } from '../../replies/reply-text.js';
import type { TeamsAdapter } from './teams.adapter.js';
import type { FileConsent } from './teams-files.js';

/** A file that was sent to a conversation, by the part of the answer that it is. */
const OFFERED = statement({
  name: 'channel_teams.offered_file',
  params: { channel: text, conversation: text, message: text, part: integer },
  row: { file: json<TurnFile>(), target: json<AdapterData>(), external_id: nullable(text) },
  sql: `
    SELECT reply.file, said.target, reply.external_id
    FROM channel_messages AS said JOIN channel_replies AS reply ON reply.message_id = said.message_id
    WHERE said.channel = :channel AND said.message_id = :message AND said.target->>'conversation' = :conversation
      AND reply.part = :part AND reply.file IS NOT NULL`,
});

/** Where somebody decided. */
export interface ConsentPlace {
  readonly channel: string;
  readonly conversation: string;
  readonly adapter: TeamsAdapter;
}

/**
 * Hands a file over when its reader agrees: Teams then names a place in their OneDrive. Any replica does, and the bytes stay
 * until that is done. Who clicks again gets it again; what a changed client makes up finds only files of its own conversation.
 */
@Injectable()
export class TeamsFileConsents {
  constructor(
    private readonly database: Database,
    private readonly files: TurnFiles,
    private readonly logs: Logs,
  ) {}

  /** Throws `Unavailable` when it was not handed over, so that Teams asks the person to try again. */
  async receive({ channel, conversation, adapter }: ConsentPlace, consent: FileConsent): Promise<void> {
    const { messageId: message, part } = consent;
    const [offered] = await this.database.query(OFFERED, { channel, conversation, message, part });
    if (offered === undefined) return;
    const { file, target } = offered;
    const card = offered.external_id ?? consent.card;
    const data = consent.upload === null ? undefined : await this.files.read(file);
    try {
      if (consent.upload === null) await adapter.removeCard(target, card);
      else if (data === undefined) await adapter.tell(target, unsentFile(file.name, REPLY_TEXTS.fileGone));
      else await adapter.handOver({ target, card, data, mimeType: file.mimeType, upload: consent.upload });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.logs
        .for(`channel::${channel}`)
        .warn('a file was not handed over; its reader may try again', { reason });
      throw new Unavailable('The file could not be handed over. Please try again.');
    }
    await this.files.forgetOne(file);
  }
}
