import { Injectable } from '@nestjs/common';
import { BadFields, type FieldProblem } from '../../common/errors/gateway-error.js';
import { isId } from '../../common/ids/typeid.js';
import type { OnCommit } from '../../platform/database/sql.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { agentNames, agentSettings, DEFAULT_AGENT } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { refuseAgent, refuseForeignAgent } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { refuseForeignUserId } from '../../platform/tokens/user-ids.js';
import { ModelChains } from '../models/models.api.js';
import {
  AgentGone,
  RunningTurns,
  SessionEnded,
  SessionNotFound,
  TurnCancelled,
  TurnLeases,
} from '../turns/turns.api.js';
import { ChannelDirectory } from './channel-directory.js';
import type { Metadata, Page, Session, SessionFilter, SessionPage, TokenBudget } from './session.js';
import { SessionStore } from './session.store.js';
import { idleLimits } from './session-status.js';
import { OtherUser } from './sessions.errors.js';

/** A caller's input for a new session; everything has a default. */
export interface SessionInput {
  readonly channel?: string | undefined;
  readonly userId?: string | undefined;
  /** The name of an agent. */
  readonly agent?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly model?: string | undefined;
  readonly metadata?: Metadata | undefined;
}

/**
 * The life of sessions as callers see it (docs/specification/silences.md, Session life). A token bound to a user sees
 * only that user's.
 */
@Injectable()
export class SessionsService {
  private readonly logger: Logger;

  constructor(
    private readonly store: SessionStore,
    private readonly settings: Settings,
    private readonly channels: ChannelDirectory,
    private readonly running: RunningTurns,
    private readonly leases: TurnLeases,
    private readonly models: ModelChains,
    logs: Logs,
  ) {
    this.logger = logs.for('sessions');
  }

  /** The model that a session names, else the first of its agent; empty when that agent was removed. */
  modelOf({ agent: name, model }: Session): string {
    const agent = agentSettings(this.settings.current, name);
    return model ?? (agent === undefined ? '' : this.models.of(agent, null)[0].label);
  }

  /** What the session may use today; undefined when nothing limits it. */
  budgetOf({ spentToday: used }: Session): TokenBudget | undefined {
    const limit = this.settings.current.limits.daily_tokens_per_session;
    if (limit === 0) return undefined;
    return { limit, used, resetsAt: new Date(new Date().setUTCHours(24, 0, 0, 0)) };
  }

  /** What `onCommit` writes is committed together with the session. */
  async create(input: SessionInput, caller: Caller, onCommit?: OnCommit<Session>): Promise<Session> {
    BadFields.refuse(this.problemsOf(input));
    const channel = input.channel ?? 'api';
    const {
      agent = this.agentFor(channel, caller),
      systemPrompt = null,
      model = null,
      metadata = {},
    } = input;
    const userId = this.userOf(input.userId, caller);
    const namesUser = input.userId !== undefined || caller.boundUserId !== null;
    this.refuseAgent(agent, caller, userId);
    if (model !== null) this.refuseModel(model, agent);
    const given = { channel, userId, namesUser, agent, systemPrompt, model, metadata };
    const session = await this.store.insert(given, onCommit);
    const fields = { session_id: session.id, channel, token: caller.tokenId };
    this.logger.info(`session ${session.id} created on channel ${channel}`, fields);
    return session;
  }

  private refuseModel(model: string, agent: string): void {
    this.models.refuseUnknown(model);
    const settings = agentSettings(this.settings.current, agent);
    if (settings !== undefined) this.models.refuseUnfit(settings, model);
  }

  /** The user of a conversation of this caller. Throws when the caller may not name that user. */
  userOf(named: string | undefined, caller: Caller): string {
    refuseForeignUserId(named, caller);
    if (caller.boundUserId === null) return named ?? caller.tokenName;
    if (named !== undefined && named !== caller.boundUserId) throw new OtherUser();
    return caller.boundUserId;
  }

  /** What is wrong with the input beyond the form of its fields. */
  problemsOf({ channel = 'api', agent }: Pick<SessionInput, 'channel' | 'agent'>): readonly FieldProblem[] {
    const problems: FieldProblem[] = [];
    if (!this.channels.has(channel)) {
      const message = `is not a configured channel; known: ${this.channels.names().join(', ')}`;
      problems.push({ path: 'channel', message });
    }
    // Their names are not listed: a token for some agents need not know which others there are.
    if (agent !== undefined && !agentNames(this.settings.current).includes(agent))
      problems.push({ path: 'agent', message: 'is not a configured agent' });
    return problems;
  }

  /** Throws `SessionNotFound` also for a session that this caller may not see. */
  async find(id: string, caller: Caller): Promise<Session> {
    const session = isId('sess', id) ? await this.store.find(id, this.limits()) : undefined;
    if (session === undefined) throw new SessionNotFound();
    if (caller.boundUserId !== null && session.userId !== caller.boundUserId) throw new SessionNotFound();
    refuseForeignAgent(session.agent, caller);
    return session;
  }

  list(filter: SessionFilter, page: Page, caller: Caller): Promise<SessionPage> {
    const mine = caller.boundUserId === null ? filter : { ...filter, userId: caller.boundUserId };
    return this.store.list({ ...mine, agents: caller.agents }, page, this.limits());
  }

  /** How many sessions a list with this filter would count, for status pages and metrics. */
  async count(filter: SessionFilter): Promise<number> {
    return (await this.store.list(filter, { limit: 0, offset: 0 }, this.limits())).total;
  }

  /** Ends the session; its rows stay readable. A running turn is aborted. Throws `SessionEnded` the second time. */
  async end(id: string, caller: Caller): Promise<void> {
    const { channel } = await this.find(id, caller);
    if (!(await this.store.end(id, this.limits()))) throw new SessionEnded();
    if (!this.running.abort(id, new TurnCancelled())) await this.leases.wake(id);
    const fields = { session_id: id, channel, reason: 'deleted', token: caller.tokenId };
    this.logger.info(`session ${id} ended on channel ${channel}: deleted`, fields);
  }

  /** The agent for a caller that names none: the first of its token's, else that of the channel. */
  private agentFor(channel: string, { agents }: Caller): string {
    const channels = this.settings.current.channels_config;
    const ofChannel = Object.hasOwn(channels, channel) ? channels[channel]?.agent : undefined;
    return agents?.[0] ?? ofChannel ?? DEFAULT_AGENT;
  }

  private refuseAgent(name: string, caller: Caller, userId: string): void {
    const agent = agentSettings(this.settings.current, name);
    if (agent === undefined) throw new AgentGone(name);
    refuseAgent(agent, caller, userId);
  }

  private limits() {
    return idleLimits(this.settings.current.agent);
  }
}
