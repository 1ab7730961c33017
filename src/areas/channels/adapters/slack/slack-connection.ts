import { SocketModeClient } from '@slack/socket-mode';
import type { GuardedSockets } from '../../../../platform/outbound/guarded-connector.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import { Poller } from '../../../../platform/runtime/poller.js';
import { withDeadline } from '../../../../platform/runtime/with-deadline.js';
import { ChannelUnreachable } from '../../channel-failures.js';
import { connectionFailure, SILENT, type SlackAccess, slackOptions } from './slack-client.js';

/** Received envelopes that wait to be stored. Beyond this the connection is closed, and catching up finds the rest. */
const MAX_WAITING = 1000;
const MAX_AT_ONCE = 100;
const POLL_MS = 1000;
/** How long Slack has to close the connection. */
const CLOSE_MS = 1000;
const CLOSING = 2;
/** A connection without a pong for this long is dead; a shorter limit would end sound ones while the process is busy. */
const PONG_MS = 10_000;

/** One envelope of socket mode. Slack repeats what is not acknowledged. */
export interface SlackEnvelope {
  readonly type: string;
  readonly body: unknown;
  readonly ack: () => Promise<void>;
}

/** The library throws inside a listener when an envelope is malformed, where nothing would catch it. */
class TolerantClient extends SocketModeClient {
  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    await super.onWebSocketMessage(data, isBinary).catch(() => undefined);
  }
}

/** One connection in socket mode, from open to close. */
export class SlackConnection {
  private readonly client: TolerantClient;
  private readonly sockets: GuardedSockets;
  private readonly over = new AbortController();
  private readonly waiting: SlackEnvelope[] = [];
  private wake: () => void = () => undefined;
  private ended: Error | undefined;
  /** Set when we closed it. */
  private cutFor: Error | undefined;
  private wasClosing = false;
  private readonly closedCheck = new Poller({
    everyMs: POLL_MS,
    look: () => this.checkClosed(),
    failed: (error) => this.cut(`Slack's connection could not be looked after: ${String(error)}`),
  });

  constructor(
    outbound: OutboundClient,
    private readonly access: SlackAccess & { readonly appToken: string },
  ) {
    this.sockets = outbound.sockets();
    this.client = new TolerantClient({
      appToken: access.appToken,
      // The supervisor reconnects, and knows when not to.
      autoReconnectEnabled: false,
      clientPingTimeout: PONG_MS,
      logger: SILENT,
      dispatcher: this.sockets.dispatcher,
      clientOptions: slackOptions(outbound, access, this.over.signal),
    });
    this.client.on('slack_event', (envelope: SlackEnvelope) => this.arrived(envelope));
    this.client.on('disconnected', () => this.end('Slack ended the connection'));
  }

  /** Resolves when Slack has sent `hello`. Throws `ChannelRefused` and `ChannelUnreachable`. */
  async open(signal: AbortSignal): Promise<void> {
    const cut = (): void => this.cut('the gateway has ended the connection');
    const tooLate = setTimeout(() => this.cut('Slack cannot be reached: timeout'), this.access.timeoutMs);
    signal.addEventListener('abort', cut);
    try {
      if (signal.aborted) cut();
      await this.client.start();
    } catch (error) {
      throw this.cutFor ?? connectionFailure(this.sockets.failure ?? error);
    } finally {
      clearTimeout(tooLate);
      signal.removeEventListener('abort', cut);
    }
    signal.addEventListener('abort', () => this.end('the gateway has ended the connection'), { once: true });
    this.closedCheck.start(POLL_MS);
  }

  /** The received envelopes in order, at least one and at most 100. Throws when the connection has ended. */
  async next(): Promise<readonly SlackEnvelope[]> {
    for (;;) {
      if (this.ended !== undefined) throw this.ended;
      if (this.waiting.length > 0) return this.waiting.splice(0, MAX_AT_ONCE);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Closes the connection, so that Slack sends nothing more to it. Never rejects. */
  async close(): Promise<void> {
    this.end('the gateway has ended the connection');
    await this.closedCheck.stop();
    const closing = this.client.disconnect().catch(() => undefined);
    await withDeadline(closing, CLOSE_MS, () => undefined);
    this.over.abort();
    await this.sockets.cut();
  }

  private arrived(envelope: SlackEnvelope): void {
    if (this.waiting.length < MAX_WAITING) this.waiting.push(envelope);
    else this.end('more messages arrived than could be stored');
    this.wake();
  }

  /** The library waits half a minute for a close frame from a dead peer; two polls in `CLOSING` end it earlier. */
  private checkClosed(): void {
    const isClosing = this.client.websocket?.readyState === CLOSING;
    if (isClosing && this.wasClosing) this.cut('Slack no longer responds');
    this.wasClosing = isClosing;
  }

  private cut(reason: string): void {
    this.end(reason);
    this.cutFor ??= new ChannelUnreachable(reason);
    this.over.abort();
    void this.sockets.cut();
  }

  /** The first reason counts. */
  private end(reason: string): void {
    this.ended ??= new ChannelUnreachable(reason);
    this.wake();
  }
}
