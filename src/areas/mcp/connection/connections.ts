import { Injectable } from '@nestjs/common';
import { EventStore } from '../../../platform/events/event.store.js';
import type { GatewayEvent } from '../../../platform/events/event-catalogue.js';
import { Logs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { Settings } from '../../../platform/settings/settings.js';
import { ArgumentChecks, ToolRegistry } from '../../tools/tools.api.js';
import { KnownTools } from '../tools/known-tools.store.js';
import { OfferedTools, type RunTool } from '../tools/offered-tools.js';
import { ChildOutputLog } from '../transport/child-output.js';
import { secretsInEnvironment } from '../transport/credentials.js';
import { Transports } from '../transport/transports.js';
import { McpConnection } from './mcp-connection.js';
import { UserConnectionMetrics } from './user-connection-metrics.js';

/** Creates the supervised connection of each server, with everything that it depends on. */
@Injectable()
export class Connections {
  constructor(
    private readonly transports: Transports,
    private readonly registry: ToolRegistry,
    private readonly checks: ArgumentChecks,
    private readonly known: KnownTools,
    private readonly events: EventStore,
    private readonly environment: Environment,
    private readonly settings: Settings,
    private readonly redactor: Redactor,
    private readonly metrics: UserConnectionMetrics,
    private readonly logs: Logs,
  ) {}

  /** Registers the credentials that these servers take from the environment with the redactor. */
  hideSecrets(servers: readonly McpServerSettings[]): void {
    this.redactor.setFor('mcp servers', secretsInEnvironment(servers, this.environment));
  }

  /** Returns a connection that is not started yet. */
  make(name: string, settings: McpServerSettings): McpConnection {
    const logger = this.logs.for(`mcp::${name}`);
    const onRefused = (reason: string): void =>
      logger.warn('a message from the tool server was refused', { reason });
    const redact = (text: string): string => this.redactor.redact(text);
    const output = new ChildOutputLog(logger, redact);
    return new McpConnection({
      name,
      settings,
      logger,
      checks: this.checks,
      warning: this.transports.warningOf(settings),
      redact,
      hideKnown: (text) => this.redactor.hideKnown(text),
      makeTransport: (origin, session) => {
        const owner = { name, settings, origin, ...(session === undefined ? {} : { session }) };
        return this.transports.make(owner, output.write, onRefused);
      },
      questionTimeoutMs: () => this.settings.current.mcp.question_timeout_ms,
      metrics: this.metrics.of(name),
      offered: (connection) => {
        const run: RunTool = (...call) => connection.call(...call);
        const server = { name, settings, run, isAvailable: () => connection.isUp() };
        return new OfferedTools(server, this.registry, this.known, this.checks, logger);
      },
      isAnyReleased: (tools) => this.known.isAnyReleased(name, tools),
      onChange: (connected, error) => this.report(name, connected, error),
    });
  }

  private report(name: string, connected: boolean, error: string | undefined): void {
    const event: GatewayEvent = connected
      ? { name: 'mcp.connected', userId: null, data: { name } }
      : { name: 'mcp.disconnected', userId: null, data: { name, ...(error === undefined ? {} : { error }) } };
    this.events.publish(event).catch((failure: unknown) => {
      this.logs
        .for('mcp')
        .warn('an event could not be published', { event: event.name, error: String(failure) });
    });
  }
}
