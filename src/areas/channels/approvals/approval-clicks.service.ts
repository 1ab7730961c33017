import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { Logs } from '../../../platform/logging/logger.js';
import { senderUserId } from '../../../platform/tokens/user-ids.js';
import { ApprovalDecided, Approvals, ChannelDirectory } from '../../sessions/sessions.api.js';
import type { ClickOutcome, InboundClick } from '../channel-adapter.port.js';
import { plainName } from '../inbound/sender.js';
import { closedCard, outcomeText, type ReadClick, readClick } from './approval-card.js';
import { ApprovalCards } from './approval-cards.service.js';
import { ApprovalCardStore, type StoredCard } from './approval-cards.store.js';

const NOT_AN_APPROVER =
  'You may not decide about this call: you are not among the approvers of this channel.';
const NOT_OPEN = 'This call does not wait any more.';

/** Decides about tool calls when approvers click. The platform's adapter has verified who clicked. */
@Injectable()
export class ApprovalClicks {
  constructor(
    private readonly store: ApprovalCardStore,
    private readonly cards: ApprovalCards,
    private readonly approvals: Approvals,
    private readonly directory: ChannelDirectory,
    private readonly logs: Logs,
  ) {}

  /**
   * The first decision over all replicas counts, wherever it was made. A click of anybody but an approver costs no
   * statement. Throws `Unavailable` without a database; the click may then come again.
   */
  async receive(channel: string, click: InboundClick): Promise<ClickOutcome> {
    const { id } = click.sender;
    if (this.directory.settingsOf(channel)?.approvers.includes(id) !== true) {
      // Operators need the id to add the person.
      this.logs.for(`channel::${channel}`).info('sender is not in approvers; click ignored', { sender: id });
      return { isAccepted: false, text: NOT_AN_APPROVER };
    }
    const read = readClick(click.data);
    const card = read && (await this.store.find(channel, read.code));
    if (card === undefined || read === undefined || click.isFrom?.(card.target) === false)
      return { isAccepted: false, text: NOT_OPEN };
    try {
      return await this.decide(card, read, click);
    } finally {
      this.cards.wake();
    }
  }

  private async decide(
    card: StoredCard,
    { verdict }: ReadClick,
    { sender }: InboundClick,
  ): Promise<ClickOutcome> {
    const { approvalId, channel, asker } = card;
    const userId = senderUserId(`${channel}:${sender.id}`);
    const writer = senderUserId(`${channel}:${sender.writesAs ?? sender.id}`);
    const isAsker = userId === asker || writer === asker;
    try {
      await this.approvals.decideFrom({ channel, userId, isAsker }, approvalId, verdict);
    } catch (error) {
      return refusalOf(error, card);
    }
    const name = plainName(sender.displayName) || sender.id;
    await this.store.decidedBy(approvalId, name);
    const text = outcomeText(verdict, name);
    return { isAccepted: true, text, card: closedCard(card, text) };
  }
}

/** The answer to a click that decided nothing. Throws errors that are no answer to a click. */
function refusalOf(error: unknown, card: StoredCard): ClickOutcome {
  if (error instanceof ApprovalDecided) {
    const { status, decidedBy } = error.record;
    const text = outcomeText(status === 'denied' ? 'denied' : 'allowed', card.decider ?? decidedBy);
    return { isAccepted: false, text: `Too late. ${text}`, card: closedCard(card, text) };
  }
  if (!(error instanceof GatewayError) || error.status >= 500) throw error;
  if (error.status === 404) return { isAccepted: false, text: NOT_OPEN };
  return { isAccepted: false, text: error.message };
}
