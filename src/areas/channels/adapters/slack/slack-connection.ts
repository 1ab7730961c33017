import { setTimeout as sleep } from 'node:timers/promises';
import { SocketModeClient } from '@slack/socket-mode';
import type { GuardedSockets } from '../../../../platform/outbound/guarded-sockets.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import { ChannelUnreachable } from '../../channel-failures.js';
import { connectionFailure, SILENT, type SlackAccess, slackOptions } from './slack-client.js';

/** What has arrived and is not taken; past this much the connection is given up, and what was missed is asked for. */
const MAX_WAITING = 1000;
const MAX_AT_ONCE = 100;
const POLL_MS = 1000;
/** Slack has so long to say goodbye. */
const CLOSE_MS = 1000;
const CLOSING = 2;
/** A connection without an answer to a ping for so long is gone; less would end sound ones while the process is busy. */
const PONG_MS = 10_000;

/** One envelope of socket mode. What is not acknowledged comes again. */
export interface SlackEnvelope {
  readonly type: string;
  readonly body: unknown;
  readonly ack: () => Promise<void>;
}

/** The library throws within a listener when an envelope is not of the form that it expects; nobody would catch it. */
class TolerantClient extends SocketModeClient {
  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    await super.onWebSocketMessage(data, isBinary).catch(() => undefined);
  }
}

/** One connection in socket mode, from its beginning to its end. */
export class SlackConnection {
  private readonly client: TolerantClient;
  private readonly sockets: GuardedSockets;
  private readonly over = new AbortController();
  private readonly waiting: SlackEnvelope[] = [];
  private wake: () => void = () => undefined;
  private ended: Error | undefined;
  /** Set when the end is ours. */
  private cutFor: Error | undefined;
  private wasClosing = false;
  private looks: NodeJS.Timeout | undefined;

  constructor(
    outbound: OutboundClient,
    private readonly access: SlackAccess & { readonly appToken: string },
  ) {
    this.sockets = outbound.sockets();
    this.client = new TolerantClient({
      appToken: access.appToken,
      // The supervisor connects again, and knows more reasons not to.
      autoReconnectEnabled: false,
      clientPingTimeout: PONG_MS,
      logger: SILENT,
      dispatcher: this.sockets.dispatcher,
      clientOptions: slackOptions(outbound, access, this.over.signal),
    });
    this.client.on('slack_event', (envelope: SlackEnvelope) => this.arrived(envelope));
    this.client.on('disconnected', () => this.end('Slack ended the connection'));
  }

  /** Resolves when Slack has said hello. Throws `ChannelRefused` and `ChannelUnreachable`. */
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
    this.looks = setInterval(() => this.checkClosed(), POLL_MS);
  }

  /** What has arrived, in its order; at least one. Throws when the connection has ended. */
  async next(): Promise<readonly SlackEnvelope[]> {
    for (;;) {
      if (this.ended !== undefined) throw this.ended;
      if (this.waiting.length > 0) return this.waiting.splice(0, MAX_AT_ONCE);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Says goodbye, so that Slack gives it nothing more. Never rejects. */
  async close(): Promise<void> {
    this.end('the gateway has ended the connection');
    clearInterval(this.looks);
    const goodbye = this.client.disconnect().catch(() => undefined);
    await Promise.race([goodbye, sleep(CLOSE_MS)]);
    this.over.abort();
    await this.sockets.cut();
  }

  private arrived(envelope: SlackEnvelope): void {
    if (this.waiting.length < MAX_WAITING) this.waiting.push(envelope);
    else this.end('more arrived than could be stored');
    this.wake();
  }

  /** The library waits half a minute for the goodbye of somebody who is gone. */
  private checkClosed(): void {
    const isClosing = this.client.websocket?.readyState === CLOSING;
    if (isClosing && this.wasClosing) this.cut('Slack did not answer any more');
    this.wasClosing = isClosing;
  }

  private cut(reason: string): void {
    this.end(reason);
    this.cutFor ??= new ChannelUnreachable(reason);
    this.over.abort();
    void this.sockets.cut();
  }

  /** Why it ended first is why. */
  private end(reason: string): void {
    this.ended ??= new ChannelUnreachable(reason);
    this.wake();
  }
}
