import { sentenceOf } from '../../../../common/errors/error-text.js';
import { signingKey } from '../../../../common/text/webhook-secret.js';
import { OutboundFailed } from '../../../../platform/outbound/outbound.errors.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import { MIN_CHANNEL_KEY_BYTES } from '../../../../platform/settings/sections/channels.section.js';
import { deliveryHeaders } from '../../../hooks/hooks.api.js';
import {
  type AdapterParts,
  ChannelAdapter,
  credential,
  type FetchedFile,
  type InboundFile,
  type OutboundFile,
  type OutboundReply,
  type ReceiverLink,
} from '../../channel-adapter.port.js';
import { ChannelRefused, ChannelUnreachable, NotSent } from '../../channel-failures.js';
import { download } from '../../inbound/file-download.js';

/** Programs take an answer of any length in one piece. */
const MAX_REPLY_LENGTH = 16 * 1024 * 1024;
/** A file takes longer than a text. */
const TIMES_LONGER = 3;
const GONE = 410;
const TOO_LARGE = 413;

/**
 * Programs post signed messages to `/inbound/<channel>` of any replica and get the answer in the response, or posted to
 * their callback in the form of Standard Webhooks (docs/channels.md).
 */
export class WebhookAdapter extends ChannelAdapter {
  readonly maxReplyLength = MAX_REPLY_LENGTH;
  override readonly answersInResponse: boolean;
  /** The receiver recognises a reply by its `webhook-id`. */
  override readonly dropsDuplicates = true;
  /** Signs messages and replies. */
  readonly key: Buffer;
  private readonly callbackUrl: string;
  private readonly timeoutMs: number;
  private readonly outbound: OutboundClient;

  constructor({ settings, environment, outbound }: AdapterParts) {
    super();
    this.key = keyOf(credential(settings.secret, settings.secret_env, environment));
    this.callbackUrl = settings.callback_url;
    this.timeoutMs = settings.request_timeout_ms;
    this.outbound = outbound;
    this.answersInResponse = this.callbackUrl === '';
  }

  /** Messages arrive through the listeners, so there is no connection to hold. */
  receive(link: ReceiverLink, signal: AbortSignal): Promise<void> {
    link.connected();
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Posts a signed ping to the callback; without a callback there is nothing to check. */
  async check(signal: AbortSignal): Promise<void> {
    if (this.answersInResponse) return;
    const id = `ping_${Date.now()}`;
    const status = await this.post({ id, content: { type: 'ping' } }, signal).catch((error: unknown) => {
      throw new ChannelUnreachable(`the callback cannot be reached: ${reasonOf(error)}`);
    });
    if (status < 200 || status > 299) throw new ChannelUnreachable(`the callback answered ${status}`);
  }

  async send({ target, text, key }: OutboundReply, signal: AbortSignal): Promise<undefined> {
    // The callback was taken away while this waited; the sender can still fetch it.
    if (this.answersInResponse) return;
    const { conversation, user, id } = target;
    const content = { type: 'reply', conversation, user, in_reply_to: id, content: text };
    await this.deliver({ id: key, content }, signal);
  }

  /** Posted like a reply; without a callback it goes with the response. */
  override async sendFile(file: OutboundFile, signal: AbortSignal): Promise<undefined> {
    if (this.answersInResponse) return;
    const { target, name, mimeType, key } = file;
    const { conversation, user, id } = target;
    const about = { type: 'file', conversation, user, in_reply_to: id, name, mime_type: mimeType };
    const content = { ...about, data: file.data.toString('base64') };
    await this.deliver({ id: key, content, timeoutMs: this.timeoutMs * TIMES_LONGER }, signal);
  }

  /** A program that asks for the response again gets its files again. */
  override keepsFile(): boolean {
    return this.answersInResponse;
  }

  /** Throws `NotSent`: the receiver may take anything again, except what is too large, and everything once it is gone. */
  private async deliver(posted: Posted, signal: AbortSignal): Promise<void> {
    const status = await this.post(posted, signal).catch((error: unknown) => {
      throw new NotSent('retry', `the callback cannot be reached: ${reasonOf(error)}`);
    });
    if (status >= 200 && status <= 299) return;
    const isFinal = status === GONE || status === TOO_LARGE;
    throw new NotSent(isFinal ? 'rejected' : 'retry', `the callback answered ${status}`);
  }

  /** The bytes are where the program said; it is shown no credential. */
  override fetchFile({ where }: InboundFile, maxBytes: number, signal: AbortSignal): Promise<FetchedFile> {
    const { timeoutMs } = this;
    return download(this.outbound, { url: String(where?.['url']), maxBytes, timeoutMs, signal });
  }

  private async post(posted: Posted, signal: AbortSignal): Promise<number> {
    const { id, content, timeoutMs = this.timeoutMs } = posted;
    const body = JSON.stringify(content);
    const headers = deliveryHeaders(id, body, [this.key], Math.floor(Date.now() / 1000));
    const { callbackUrl: url } = this;
    return (await this.outbound.send({ method: 'POST', url, headers, body, timeoutMs, signal })).status;
  }
}

interface Posted {
  /** `webhook-id`. */
  readonly id: string;
  readonly content: object;
  /** Unless it is that of all calls. */
  readonly timeoutMs?: number;
}

function keyOf(secret: string): Buffer {
  const key = signingKey(secret);
  if (key === undefined) throw new ChannelRefused('the part of the secret after whsec_ is not base64');
  if (key.length < MIN_CHANNEL_KEY_BYTES)
    throw new ChannelRefused(`the secret has fewer than ${MIN_CHANNEL_KEY_BYTES} bytes`);
  return key;
}

function reasonOf(error: unknown): string {
  if (error instanceof OutboundFailed) return error.reasonText;
  return sentenceOf(error);
}
