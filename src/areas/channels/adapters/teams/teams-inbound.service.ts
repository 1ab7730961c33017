import { Injectable } from '@nestjs/common';
import { BadRequest } from '../../../../common/errors/gateway-error.js';
import { Logs } from '../../../../platform/logging/logger.js';
import { ChannelDirectory } from '../../../sessions/sessions.api.js';
import { ApprovalClicks } from '../../approvals/approval-clicks.service.js';
import { ChannelActivity } from '../../channel-activity.js';
import type { InboundClick, InboundMessage } from '../../channel-adapter.port.js';
import { ChannelAdapters } from '../../channel-adapters.js';
import { NotFromConnector } from '../../channels.errors.js';
import { ConversationWorker } from '../../conversations/conversation-worker.service.js';
import { Inbox } from '../../inbound/inbox.store.js';
import { admissionOf } from '../../inbound/sender.js';
import { TeamsAdapter } from './teams.adapter.js';
import { activityOf, inboundOf, senderOf, type TeamsActivity, tenantOf } from './teams-activity.js';
import { clickAnswer, clickOf } from './teams-cards.js';
import { TeamsFileConsents } from './teams-file-consents.service.js';
import { consentOf, type FileConsent } from './teams-files.js';
import { type ConnectorClaims, MAX_JWT_LENGTH } from './teams-keys.js';

const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i;
/** What the connector calls Teams, and what its key has to be endorsed for. */
const TEAMS = 'msteams';

/** The sender of a request, according to a token whose signature was verified. */
export interface VerifiedConnector {
  readonly channel: string;
  readonly adapter: TeamsAdapter;
  readonly claims: ConnectorClaims;
}

/** Verifies what the connector of Teams posts, and stores each message once, on any replica. */
@Injectable()
export class TeamsInbound {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly directory: ChannelDirectory,
    private readonly inbox: Inbox,
    private readonly worker: ConversationWorker,
    private readonly clicks: ApprovalClicks,
    private readonly consents: TeamsFileConsents,
    private readonly activity: ChannelActivity,
    private readonly logs: Logs,
  ) {}

  /**
   * Throws `NotFromConnector`, also for an unknown channel, and `Unavailable` while the connector's keys cannot be
   * fetched.
   */
  async verify(channel: string, authorization: string | undefined): Promise<VerifiedConnector> {
    const adapter = await this.adapters.get(channel).catch(() => undefined);
    const isShort = (authorization?.length ?? 0) <= MAX_JWT_LENGTH;
    const token = isShort ? BEARER.exec(authorization ?? '')?.[1] : undefined;
    if (!(adapter instanceof TeamsAdapter) || token === undefined) throw new NotFromConnector();
    const claims = await adapter.claims(token);
    if (claims === undefined) throw new NotFromConnector();
    return { channel, adapter, claims };
  }

  /**
   * Resolves when the message is stored, or the click has decided what it decides, with the body of the answer; what is neither
   * is left. Throws `BadRequest`, `NotFromConnector`.
   */
  async receive({ channel, adapter, claims }: VerifiedConnector, body: unknown): Promise<object> {
    const activity = activityOf(body);
    if (activity === undefined) throw new BadRequest('The body has to be an activity of the Bot Framework.');
    const isEndorsed = activity.channelId === TEAMS && claims.endorsements.includes(TEAMS);
    if (!isEndorsed || activity.serviceUrl !== claims.serviceUrl) throw new NotFromConnector();
    const click = clickOf(activity);
    const message = inboundOf(activity);
    const consent = consentOf(activity);
    if ((click ?? consent ?? message) === undefined) return {};
    if (!this.isOwnTenant(channel, adapter, activity)) return {};
    if (click !== undefined) return this.clicked(channel, click);
    if (consent !== undefined) await this.consented(channel, adapter, { activity, consent });
    if (message !== undefined) await this.store(channel, message);
    return {};
  }

  /** The answer does not wait until the clicked message is edited: `ApprovalCards` does that. */
  private async clicked(channel: string, click: InboundClick): Promise<object> {
    const outcome = await this.clicks.receive(channel, click).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      this.logs.for(`channel::${channel}`).warn('a click decided nothing; it may come again', { reason });
      return undefined;
    });
    return clickAnswer(outcome);
  }

  private async consented(
    channel: string,
    adapter: TeamsAdapter,
    { activity: { from, conversation }, consent }: { activity: TeamsActivity; consent: FileConsent },
  ): Promise<void> {
    if (from === undefined || conversation === undefined) return;
    const sender = senderOf(from);
    if (!this.admits(channel, { sender, isGroup: false, isAddressed: true })) return;
    await this.consents.receive({ channel, conversation: conversation.id, adapter }, consent);
  }

  private admits(
    channel: string,
    arrived: Pick<InboundMessage, 'sender' | 'isGroup' | 'isAddressed'>,
  ): boolean {
    const settings = this.directory.settingsOf(channel);
    const admission = settings === undefined ? 'not_allowed' : admissionOf(arrived, settings);
    if (admission === 'not_allowed') {
      // Operators need the id to add the sender to allowed_users.
      const sender = arrived.sender.id;
      this.logs
        .for(`channel::${channel}`)
        .info('sender is not in allowed_users; message ignored', { sender });
    }
    return admission === 'admitted';
  }

  private async store(channel: string, message: InboundMessage): Promise<void> {
    if (!this.admits(channel, message) || (await this.inbox.accept(channel, [message])) === 0) return;
    this.activity.note(channel);
    this.worker.wake();
  }

  private isOwnTenant(channel: string, { tenantId }: TeamsAdapter, activity: TeamsActivity): boolean {
    if (tenantId === '' || tenantOf(activity) === tenantId) return true;
    this.logs.for(`channel::${channel}`).info('activity of another tenant than tenant_id; ignored');
    return false;
  }
}
