import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import {
  type ApprovalAnswer,
  type ApprovalRecord,
  type SeenApprovals,
  ToolApprovalRecords,
  ToolApprovals,
  ToolPolicy,
} from '../tools/tools.api.js';
import { AskerRule } from './asker-rule.js';
import { ApprovalDecided, NoWaitingCall, OwnCall, ToolNotYours } from './sessions.errors.js';

const LIST = new KeysetList('approvals', ['time', 'text'], ({ askedAt, id }: ApprovalRecord) => [
  askedAt,
  id,
]);

const EVERYTHING: SeenApprovals = { userId: null };

/** A caller's decision about a tool call that waits. */
export type ApprovalDecision = Pick<ApprovalAnswer, 'verdict' | 'reason'>;

/** A person on a platform whom the settings of the channel let decide about the calls of its conversations. */
export interface ChannelApprover {
  readonly channel: string;
  /** As sessions and the audit name them: `<channel>:<id>`. */
  readonly userId: string;
  /** Whether the message that made the call is theirs. */
  readonly isAsker: boolean;
}

/** Tool calls that wait for a person, over all sessions that the caller may see. */
@Injectable()
export class Approvals {
  constructor(
    private readonly approvals: ToolApprovals,
    private readonly records: ToolApprovalRecords,
    private readonly policy: ToolPolicy,
    private readonly settings: Settings,
    private readonly askers: AskerRule,
  ) {}

  /** Newest first; a bound caller sees those of its user, and a caller for some agents those of these agents. */
  async list(
    query: PageQuery,
    status: ApprovalRecord['status'],
    caller: Caller,
  ): Promise<Page<ApprovalRecord>> {
    const filters = [status, caller.boundUserId];
    const found = await this.records.page(
      LIST.after(query, filters),
      status,
      seenBy(caller),
      query.limit + 1,
    );
    return LIST.page(found, query, filters);
  }

  /**
   * The first decision over all replicas counts. Throws `NoWaitingCall`, `ToolNotYours` when the caller's own turns may
   * not use the tool, and `ApprovalDecided`, which says who decided before.
   */
  async decide(id: string, { verdict, reason }: ApprovalDecision, caller: Caller): Promise<ApprovalRecord> {
    const asked = await this.found(id, seenBy(caller));
    await this.askers.refuse(asked, caller);
    const token = { id: caller.tokenId, name: caller.tokenName };
    // The rules of `api` apply to the turn that asks, and were checked there.
    const context = {
      channel: asked.channel,
      token,
      isFromChannel: true,
      ...(asked.agent !== null && { agent: asked.agent }),
    };
    if (verdict === 'allowed' && !this.policy.allows(asked.tool, context)) throw new ToolNotYours(asked.tool);
    return this.answer(id, { verdict, by: `token "${token.name}" (${token.id})`, reason }, seenBy(caller));
  }

  /** The same for an approver of a channel, and only for calls of that channel. Throws `OwnCall`, too. */
  async decideFrom(
    { channel, userId, isAsker }: ChannelApprover,
    id: string,
    verdict: ApprovalAnswer['verdict'],
  ): Promise<ApprovalRecord> {
    const asked = await this.found(id, EVERYTHING);
    if (asked.channel !== channel) throw new NoWaitingCall();
    if (this.settings.current.tools.approval.separate && isAsker) throw new OwnCall();
    const context = { channel, isFromChannel: true, ...(asked.agent !== null && { agent: asked.agent }) };
    if (verdict === 'allowed' && !this.policy.allows(asked.tool, context)) throw new ToolNotYours(asked.tool);
    return this.answer(id, { verdict, by: userId }, EVERYTHING);
  }

  private async answer(id: string, answer: ApprovalAnswer, seen: SeenApprovals): Promise<ApprovalRecord> {
    const isFirst = await this.approvals.answer(id, answer);
    const decided = await this.found(id, seen);
    if (!isFirst) throw new ApprovalDecided(decided);
    return decided;
  }

  private async found(id: string, seen: SeenApprovals): Promise<ApprovalRecord> {
    const record = await this.records.find(id, seen);
    if (record === undefined) throw new NoWaitingCall();
    return record;
  }
}

function seenBy({ boundUserId: userId, agents }: Caller): SeenApprovals {
  return { userId, agents };
}
