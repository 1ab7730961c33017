import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { Database } from '../../platform/database/database.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { Settings } from '../../platform/settings/settings.js';
import { ChannelReports } from '../channels/channels.api.js';
import { DeliveryDirectory, HookLimits } from '../hooks/hooks.api.js';
import { Viewers } from '../live/live.api.js';
import { LogStreams } from '../logs/logs.api.js';
import { McpDirectory, McpServers, Sandbox } from '../mcp/mcp.api.js';
import { Plugins } from '../plugins/plugins.api.js';
import { TokenLimits, TurnSlots } from '../turns/turns.api.js';
import { BudgetReports } from '../usage/usage.api.js';
import { type HealthPart, healthPart, MOST_NAMES, namesOf } from './health-part.js';
import { clockPart, databasePart, diskPart, keysPart } from './host-parts.js';
import { limitsPart } from './limits-part.js';
import { ProviderPart } from './provider-part.service.js';
import { ReadinessCheck } from './readiness-check.js';
import { replicasPart, tokensPart, turnsPart } from './stored-parts.js';

/** A first attempt comes within a second; when one waits this long, nobody sends. */
const LAGGING_SECS = 60;

/** The state of each part of the gateway, as this replica sees it, and what to do about it. */
@Injectable()
export class HealthParts {
  constructor(
    private readonly readiness: ReadinessCheck,
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly settings: Settings,
    private readonly provider: ProviderPart,
    private readonly channels: ChannelReports,
    private readonly mcp: McpServers,
    private readonly mcpTools: McpDirectory,
    private readonly sandbox: Sandbox,
    private readonly hooks: DeliveryDirectory,
    private readonly plugins: Plugins,
    private readonly budgets: BudgetReports,
    private readonly tokenLimits: TokenLimits,
    private readonly hookLimits: HookLimits,
    private readonly slots: TurnSlots,
    private readonly viewers: Viewers,
    private readonly logStreams: LogStreams,
  ) {}

  /** Never rejects: a part that cannot be checked counts as failed. */
  async all(): Promise<HealthPart[]> {
    const { poolUse } = this.database;
    const parts: [string, () => Promise<HealthPart> | HealthPart][] = [
      ['gateway', () => this.gateway()],
      ['replicas', () => replicasPart(this.database)],
      ['database', () => this.databasePart(poolUse)],
      ['disk', () => diskPart(this.settings.current.database)],
      ['clock', () => clockPart(this.database)],
      ['keys', () => keysPart(this.database, this.box)],
      ['tokens', () => tokensPart(this.database)],
      ['provider', () => this.provider.look()],
      ['turns', () => turnsPart(this.database)],
      ['channels', () => this.channelsPart()],
      ['tool servers', () => this.servers()],
      ['webhooks', () => this.webhooks()],
      ['plugins', () => this.pluginsPart()],
      ['limits', () => this.limits()],
    ];
    return Promise.all(
      parts.map(async ([name, ask]) => {
        try {
          return await ask();
        } catch (error) {
          return healthPart(name, 'failing', `it could not be asked: ${sentenceOf(error)}`, LOOK_AT_LOG);
        }
      }),
    );
  }

  private async gateway(): Promise<HealthPart> {
    const { gateway, migrations } = await this.readiness.problems();
    const problem = gateway ?? migrations;
    if (problem === undefined) return healthPart('gateway', 'ok', 'it serves requests');
    return healthPart(
      'gateway',
      'failing',
      problem,
      'Run "agent-gateway migrate", or wait for the start to end.',
    );
  }

  private async databasePart(use: Database['poolUse']): Promise<HealthPart> {
    const { database: problem } = await this.readiness.problems();
    if (problem !== undefined)
      return healthPart('database', 'failing', problem, 'Look at the PostgreSQL server and at DATABASE_URL.');
    return databasePart(this.database, use);
  }

  private async channelsPart(): Promise<HealthPart> {
    const states = await this.channels.enabledStates();
    const down = states.filter(({ status }) => status !== 'connected');
    if (down.length === 0)
      return healthPart('channels', 'ok', `${states.length} of ${states.length} are connected`);
    const advice =
      'Look at its error with "agent-gateway channels list"; then "agent-gateway channels restart <name>".';
    return healthPart('channels', 'failing', `not connected: ${namesOf(down.map(withError))}`, advice);
  }

  private async servers(): Promise<HealthPart> {
    const servers = this.mcp.list();
    const down = servers.filter(({ status }) => status !== 'connected');
    const advice =
      'Look at its error with "agent-gateway mcp list"; then "agent-gateway mcp reconnect <name>".';
    if (down.length > 0)
      return healthPart('tool servers', 'failing', `not connected: ${namesOf(down.map(withError))}`, advice);
    const { warning } = this.sandbox;
    if (warning !== undefined && servers.some(({ transport }) => transport === 'stdio'))
      return healthPart('tool servers', 'warning', warning, 'docs/mcp.md says what the sandbox needs.');
    const held = await this.mcpTools.quarantined();
    if (held.length > 0)
      return healthPart(
        'tool servers',
        'warning',
        `new or changed tools wait in quarantine: ${namesOf(held.map(({ server, tool }) => `${server}/${tool}`))}`,
        'Look at what changed with "agent-gateway tools list"; then "agent-gateway mcp approve <server> <tool>".',
      );
    return healthPart('tool servers', 'ok', `${servers.length} of ${servers.length} are connected`);
  }

  private async webhooks(): Promise<HealthPart> {
    const [troubled, lagging] = await Promise.all([
      this.hooks.troubled(MOST_NAMES + 1),
      this.hooks.lagging(LAGGING_SECS, MOST_NAMES + 1),
    ]);
    if (troubled.length > 0) {
      const isGivenUp = troubled.some(({ active }) => !active);
      const named = troubled.map(
        ({ id, active, inactive_reason: reason }) =>
          `${id} (${active ? 'every attempt fails' : `given up: ${reason ?? 'unknown'}`})`,
      );
      return healthPart(
        'webhooks',
        isGivenUp ? 'failing' : 'warning',
        `failing or given up: ${namesOf(named)}`,
        'Repair the receiver; then "agent-gateway hooks replay <id>" sends what it missed.',
      );
    }
    if (lagging.length > 0)
      return healthPart(
        'webhooks',
        'warning',
        `deliveries wait for their first attempt: ${namesOf(lagging.map(({ id, secs }) => `${id} (for ${Math.round(secs)} s)`))}`,
        'Its receiver is slow, or no replica sends: look at "agent-gateway hooks deliveries <id>" and at the log.',
      );
    return healthPart('webhooks', 'ok', 'all active ones are delivered to');
  }

  private pluginsPart(): HealthPart {
    const failed = this.plugins.list().filter(({ status }) => status === 'failed');
    const { loaded, total } = this.plugins.summary;
    if (failed.length === 0) return healthPart('plugins', 'ok', `${loaded} of ${total} are loaded`);
    const named = namesOf(failed.map(({ name, error }) => `${name} (${error ?? 'unknown'})`));
    return healthPart(
      'plugins',
      'failing',
      `not loaded: ${named}`,
      'Repair its folder; it is loaded again by itself.',
    );
  }

  private limits(): Promise<HealthPart> {
    return limitsPart(
      this.budgets,
      [this.tokenLimits.all(), this.hookLimits.all()],
      [...this.slots.limits(), ...this.viewers.limits(), ...this.logStreams.limits()],
    );
  }
}

const LOOK_AT_LOG = 'Look at the log: "agent-gateway logs".';

function withError({
  name,
  error,
}: {
  readonly name: string;
  readonly error?: string | null | undefined;
}): string {
  return error ? `${name} (${error})` : name;
}
