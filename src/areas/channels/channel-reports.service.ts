import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Redactor } from '../../platform/logging/redactor.js';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import { ChannelDirectory, SessionsService } from '../sessions/sessions.api.js';
import {
  CHANNEL_STATUSES,
  type Channel,
  type ChannelProbe,
  type ChannelState,
  type ChannelStatus,
} from './channel.port.js';
import { ChannelActivity } from './channel-activity.js';
import { ChannelAdapters } from './channel-adapters.js';
import { ApiChannel, ConfiguredChannel } from './channel-kinds.js';
import { ChannelStates } from './channel-states.store.js';
import { ChannelNotFound } from './channels.errors.js';
import { ChannelSupervisor } from './supervision/channel-supervisor.service.js';

/** Which sessions a profile counts: `live` means active or idle. */
export type CountedSessions = 'live' | 'active';

export interface ChannelReport extends ChannelState {
  readonly name: string;
  readonly enabled: boolean;
  readonly activeSessions: number;
}

export interface ChannelDescription extends ChannelReport {
  /** As it is configured; `api` for the one that is built in. */
  readonly type: string;
}

export interface ChannelHealth extends ChannelProbe {
  readonly name: string;
  readonly lastMessageAt: Date | null;
}

const LIST = new KeysetList<string>('channels', ['text'], (name) => [name]);

/**
 * The state of the channels, and restarts and tests of them (docs/specification/silences.md, Channels). Methods that take
 * a name throw `ChannelNotFound`.
 */
@Injectable()
export class ChannelReports {
  constructor(
    private readonly directory: ChannelDirectory,
    private readonly api: ApiChannel,
    private readonly states: ChannelStates,
    private readonly adapters: ChannelAdapters,
    private readonly supervisor: ChannelSupervisor,
    private readonly activity: ChannelActivity,
    private readonly sessions: SessionsService,
    private readonly redactor: Redactor,
  ) {}

  list(counted: CountedSessions): Promise<ChannelReport[]> {
    return Promise.all(this.directory.names().map((name) => this.report(this.channel(name), counted)));
  }

  /** For operators, by name. */
  async page(query: PageQuery): Promise<Page<ChannelDescription>> {
    const after = query.cursor === undefined ? '' : (LIST.after(query)[0] ?? '');
    const names = [...this.directory.names()].filter((name) => name > after).sort();
    const { items, nextCursor } = LIST.page(names.slice(0, query.limit + 1), query);
    const reports = items.map(async (name) => ({
      ...(await this.report(this.channel(name), 'live')),
      type: this.directory.settingsOf(name)?.type ?? this.api.name,
    }));
    return { items: await Promise.all(reports), nextCursor };
  }

  /** Resolves before the channel is connected again: the status is `reconnecting`. Throws `ChannelDisabled`. */
  async restart(name: string): Promise<{ name: string; status: ChannelStatus }> {
    await this.channel(name).restart();
    return { name, status: 'reconnecting' };
  }

  /** Healthy means connected and a successful round trip. */
  async health(name: string): Promise<ChannelHealth> {
    const channel = this.channel(name);
    const [probe, state, lastMessageAt] = await Promise.all([
      channel.probe(),
      channel.state(),
      this.activity.lastMessageAt(name),
    ]);
    return { name, ...probe, ok: probe.ok && state.status === 'connected', lastMessageAt };
  }

  async test(name: string): Promise<{ name: string } & ChannelProbe> {
    return { name, ...(await this.channel(name).probe()) };
  }

  /** Whether an enabled channel fails to connect, as of the last poll (1 s); makes no round trip. */
  get isFailing(): boolean {
    return this.supervisor.isFailing;
  }

  /** How many of the enabled channels are connected. */
  async summary(): Promise<{ connected: number; total: number }> {
    const statuses = [...(await this.statuses()).values()];
    return { connected: statuses.filter((status) => status === 'connected').length, total: statuses.length };
  }

  /** The status of every enabled channel by name. */
  async statuses(): Promise<Map<string, ChannelStatus>> {
    return new Map((await this.enabledStates()).map(({ name, status }) => [name, status]));
  }

  /** The state of every enabled channel. */
  async enabledStates(): Promise<({ readonly name: string } & ChannelState)[]> {
    const enabled = this.directory
      .names()
      .map((name) => this.channel(name))
      .filter((channel) => channel.enabled);
    return Promise.all(enabled.map(async (channel) => ({ name: channel.name, ...(await channel.state()) })));
  }

  private channel(name: string): Channel {
    if (name === this.api.name) return this.api;
    const settings = this.directory.settingsOf(name);
    if (settings === undefined) throw new ChannelNotFound();
    const { states, adapters, supervisor, redactor } = this;
    const redact = (text: string): string => redactor.redact(text);
    return new ConfiguredChannel(name, settings, { states, adapters, supervisor, redact });
  }

  private async report(channel: Channel, counted: CountedSessions): Promise<ChannelReport> {
    const { name, enabled } = channel;
    const [state, activeSessions] = await Promise.all([
      channel.state(),
      this.sessions.count({ status: counted, channel: name }),
    ]);
    return { name, enabled, ...state, activeSessions };
  }
}

const NAME = 'agent_gateway_channel_status';

/** One sample for each enabled channel and status: 1 for its current status, 0 for the others. */
@Injectable()
export class ChannelStateGauge implements OnModuleInit {
  static readonly provider = makeGaugeProvider({
    name: NAME,
    help: 'Status of each enabled channel, the same on every replica: 1 for the current status.',
    labelNames: ['channel', 'status'],
  });

  constructor(
    @InjectMetric(NAME) private readonly gauge: Gauge<'channel' | 'status'>,
    private readonly channels: ChannelReports,
    private readonly scrape: ScrapeService,
  ) {}

  onModuleInit(): void {
    this.scrape.onScrape([this.gauge], async () => {
      const current = await this.channels.statuses();
      // Drops the channels that the configuration no longer has.
      this.gauge.reset();
      for (const [channel, now] of current) {
        for (const status of CHANNEL_STATUSES) this.gauge.set({ channel, status }, status === now ? 1 : 0);
      }
    });
  }
}
