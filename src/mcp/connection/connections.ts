import { Injectable } from '@nestjs/common';
import { ArgumentChecks } from '../../agent/schemas/argument-checks.js';
import { ToolRegistry } from '../../agent/tool-registry.js';
import { Environment } from '../../config/environment.js';
import type { McpServerSettings } from '../../config/sections/mcp.section.js';
import { EventStore } from '../../events/event.store.js';
import type { GatewayEvent } from '../../events/event-catalogue.js';
import { Logs } from '../../logs/logger.js';
import { Redactor } from '../../logs/redactor.js';
import { ChildTalkLog } from '../child-talk.js';
import { KnownTools } from '../tools/known-tools.store.js';
import { OfferedTools, type RunTool } from '../tools/offered-tools.js';
import { secretsInEnvironment } from '../transport/http-credentials.js';
import { Transports } from '../transport/transports.js';
import { McpConnection } from './mcp-connection.js';

/** Makes the connection of one server, with everything that it speaks to. */
@Injectable()
export class Connections {
  constructor(
    private readonly transports: Transports,
    private readonly registry: ToolRegistry,
    private readonly checks: ArgumentChecks,
    private readonly known: KnownTools,
    private readonly events: EventStore,
    private readonly environment: Environment,
    private readonly redactor: Redactor,
    private readonly logs: Logs,
  ) {}

  /** Keeps the credentials that these servers take from the environment out of every text. */
  hideSecrets(servers: readonly McpServerSettings[]): void {
    this.redactor.setFor('mcp servers', secretsInEnvironment(servers, this.environment));
  }

  /** A connection that is not started yet. */
  make(name: string, settings: McpServerSettings): McpConnection {
    const logger = this.logs.for(`mcp::${name}`);
    const talk = new ChildTalkLog(logger);
    const onRefused = (reason: string): void => logger.warn('a message was not read', { reason });
    const redact = (text: string): string => this.redactor.redact(text);
    return new McpConnection({
      name,
      settings,
      logger,
      checks: this.checks,
      warning: this.transports.warningOf(settings),
      redact,
      hideKnown: (text) => this.redactor.hideKnown(text),
      makeTransport: () => this.transports.make(settings, talk.take, onRefused),
      offered: (connection) => {
        const run: RunTool = (...call) => connection.call(...call);
        const server = { name, settings, run, isAvailable: () => connection.isUp() };
        return new OfferedTools(server, this.registry, this.known, this.checks, logger);
      },
      isAnyFree: (tools) => this.known.isAnyFree(name, tools),
      onChange: (connected, error) => this.tell(name, connected, error),
    });
  }

  private tell(name: string, connected: boolean, error: string | undefined): void {
    const event: GatewayEvent = connected
      ? { name: 'mcp.connected', userId: null, data: { name } }
      : { name: 'mcp.disconnected', userId: null, data: { name, ...(error === undefined ? {} : { error }) } };
    this.events.publish(event).catch((failure: unknown) => {
      this.logs.for('mcp').warn('an event could not be told', { event: event.name, error: String(failure) });
    });
  }
}
