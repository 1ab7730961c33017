import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { Database } from '../../platform/database/database.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { ChannelReports } from '../channels/channels.api.js';
import { DeliveryDirectory } from '../hooks/hooks.api.js';
import { McpServers, Sandbox } from '../mcp/mcp.api.js';
import { ModelChains, ModelHealth } from '../models/models.api.js';
import { Plugins } from '../plugins/plugins.api.js';
import { BudgetReports } from '../usage/usage.api.js';
import { type HealthPart, healthPart } from './health-part.js';
import { clockPart, databasePart, diskPart, keysPart } from './host-parts.js';
import { ReadinessCheck } from './readiness-check.js';

/** The most names in a sentence. */
const MOST_NAMES = 5;

/** How each part of the gateway does, as this replica sees it, and what to do about it. */
@Injectable()
export class HealthParts {
  constructor(
    private readonly readiness: ReadinessCheck,
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly settings: Settings,
    private readonly models: ModelChains,
    private readonly health: ModelHealth,
    private readonly channels: ChannelReports,
    private readonly mcp: McpServers,
    private readonly sandbox: Sandbox,
    private readonly hooks: DeliveryDirectory,
    private readonly plugins: Plugins,
    private readonly budgets: BudgetReports,
  ) {}

  /** Never rejects: a part that cannot be asked fails. */
  async all(): Promise<HealthPart[]> {
    const { poolUse } = this.database;
    const parts: [string, () => Promise<HealthPart> | HealthPart][] = [
      ['gateway', () => this.gateway()],
      ['database', () => this.databasePart(poolUse)],
      ['disk', () => diskPart(this.settings.current.database)],
      ['clock', () => clockPart(this.database)],
      ['keys', () => keysPart(this.database, this.box)],
      ['provider', () => this.provider()],
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

  private provider(): HealthPart {
    const { current } = this.settings;
    const chains = agentNames(current).flatMap((name) => {
      const agent = agentSettings(current, name);
      return agent === undefined ? [] : this.models.of(agent, null);
    });
    const failing = [...new Map(chains.map((one) => [one.label, this.health.problemOf(one)]))].filter(
      ([, problem]) => problem !== undefined,
    );
    const { speaker, label } = this.models.default;
    if (failing.length === 0) return healthPart('provider', 'ok', `${speaker.name} answers with ${label}`);
    const named = list(failing.map(([model, problem]) => `${model} (${problem})`));
    const advice = 'Look at the key, the quota and the status page of the provider.';
    return healthPart('provider', 'warning', `failed lately: ${named}`, advice);
  }

  private async channelsPart(): Promise<HealthPart> {
    const statuses = [...(await this.channels.statuses())];
    const down = statuses.filter(([, status]) => status !== 'connected').map(([name]) => name);
    if (down.length === 0)
      return healthPart('channels', 'ok', `${statuses.length} of ${statuses.length} are connected`);
    const advice =
      'Look at its error with "agent-gateway channels list"; then "agent-gateway channels restart <name>".';
    return healthPart('channels', 'failing', `not connected: ${list(down)}`, advice);
  }

  private servers(): HealthPart {
    const servers = this.mcp.list();
    const down = servers.filter(({ status }) => status !== 'connected').map(({ name }) => name);
    const advice =
      'Look at its error with "agent-gateway mcp list"; then "agent-gateway mcp reconnect <name>".';
    if (down.length > 0) return healthPart('tool servers', 'failing', `not connected: ${list(down)}`, advice);
    const { warning } = this.sandbox;
    if (warning !== undefined && servers.some(({ transport }) => transport === 'stdio'))
      return healthPart('tool servers', 'warning', warning, 'docs/mcp.md says what the sandbox needs.');
    return healthPart('tool servers', 'ok', `${servers.length} of ${servers.length} are connected`);
  }

  private async webhooks(): Promise<HealthPart> {
    const troubled = await this.hooks.troubled(MOST_NAMES + 1);
    if (troubled.length === 0) return healthPart('webhooks', 'ok', 'all active ones are delivered to');
    const status = troubled.some(({ active }) => !active) ? 'failing' : 'warning';
    const advice = 'Repair the receiver; then "agent-gateway hooks replay <id>" sends what it missed.';
    return healthPart(
      'webhooks',
      status,
      `failing or given up: ${list(troubled.map(({ id }) => id))}`,
      advice,
    );
  }

  private pluginsPart(): HealthPart {
    const failed = this.plugins.list().filter(({ status }) => status === 'failed');
    const { loaded, total } = this.plugins.summary;
    if (failed.length === 0) return healthPart('plugins', 'ok', `${loaded} of ${total} are loaded`);
    const named = list(failed.map(({ name, error }) => `${name} (${error ?? 'unknown'})`));
    return healthPart(
      'plugins',
      'failing',
      `not loaded: ${named}`,
      'Repair its folder; it is loaded again by itself.',
    );
  }

  private async limits(): Promise<HealthPart> {
    const reached = await this.budgets.reached(MOST_NAMES + 1);
    if (reached.length === 0) return healthPart('limits', 'ok', 'no budget is used up');
    const named = list(
      reached.map(({ scope, name, period }) => `${[scope, name].filter(Boolean).join(' ')} (${period})`),
    );
    const advice = 'Raise the budget in [limits], or wait for the next day or month in UTC.';
    return healthPart('limits', 'warning', `used up: ${named}`, advice);
  }
}

const LOOK_AT_LOG = 'Look at the log: "agent-gateway logs".';

function list(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? ' and more' : '';
  return `${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}
