import type { Socket } from 'node:net';
import { Agent, type buildConnector, type Dispatcher } from 'undici';
import type { AddressGuard } from './address-guard.js';
import type { Egress } from './egress.js';
import { guardedConnector } from './guarded-connector.js';
import { type OutboundFailed, type OutboundRefused, outboundError } from './outbound.errors.js';

/**
 * For one WebSocket of a library that takes a dispatcher: its URL comes from elsewhere, and leads where the guard allows.
 * A WebSocket takes its connection out of the agent; it is kept in sight here, so that a dead one can be cut.
 */
export class GuardedSockets {
  readonly dispatcher: Dispatcher;
  private readonly open = new Set<Socket>();
  private readonly connector: buildConnector.connector;
  private isCut = false;
  private problem: OutboundRefused | OutboundFailed | undefined;

  constructor(
    private readonly guard: AddressGuard,
    egress: Egress,
  ) {
    this.connector = guardedConnector(guard, egress);
    this.dispatcher = new Agent({
      allowH2: false,
      connect: (options, callback) => this.connect(options, callback),
    });
  }

  /** Why nothing could be opened; a WebSocket does not say. */
  get failure(): OutboundRefused | OutboundFailed | undefined {
    return this.problem;
  }

  /** Cuts what is open and opens nothing more, whatever the other side does. */
  async cut(): Promise<void> {
    this.isCut = true;
    for (const socket of this.open) socket.destroy();
    await this.dispatcher.destroy();
  }

  private connect(options: buildConnector.Options, callback: buildConnector.Callback): void {
    try {
      this.guard.checkUrl(`${options.protocol}//${options.host ?? options.hostname}`);
    } catch (error) {
      this.fail(error, callback);
      return;
    }
    this.connector(options, (...[error, socket]) => {
      if (error !== null) {
        this.fail(error, callback);
        return;
      }
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
      if (this.isCut) socket.destroy();
      callback(null, socket);
    });
  }

  private fail(error: unknown, callback: buildConnector.Callback): void {
    this.problem = outboundError(error);
    callback(this.problem, null);
  }
}
