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
  type OutboundReply,
  type ReceiverLink,
} from '../../channel-adapter.port.js';
import { ChannelRefused, ChannelUnreachable, NotSent } from '../../channel-failures.js';
import { download } from '../../inbound/file-download.js';

/** Programs take an answer of any length in one piece. */
const MAX_REPLY_LENGTH = 16 * 1024 * 1024;

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
    const status = await this.post(`ping_${Date.now()}`, { type: 'ping' }, signal).catch((error: unknown) => {
      throw new ChannelUnreachable(`the callback cannot be reached: ${reasonOf(error)}`);
    });
    if (status < 200 || status > 299) throw new ChannelUnreachable(`the callback answered ${status}`);
  }

  async send({ target, text, key }: OutboundReply, signal: AbortSignal): Promise<undefined> {
    // The callback was taken away while this waited; the sender can still fetch it.
    if (this.answersInResponse) return;
    const { conversation, user, id } = target;
    const body = { type: 'reply', conversation, user, in_reply_to: id, content: text };
    const status = await this.post(key, body, signal).catch((error: unknown) => {
      throw new NotSent('retry', `the callback cannot be reached: ${reasonOf(error)}`);
    });
    if (status < 200 || status > 299) {
      const isFinal = status === 410;
      throw new NotSent(isFinal ? 'rejected' : 'retry', `the callback answered ${status}`);
    }
  }

  /** The bytes are where the program said; it is shown no credential. */
  override fetchFile({ where }: InboundFile, maxBytes: number, signal: AbortSignal): Promise<FetchedFile> {
    const { timeoutMs } = this;
    return download(this.outbound, { url: String(where?.['url']), maxBytes, timeoutMs, signal });
  }

  private async post(id: string, content: object, signal: AbortSignal): Promise<number> {
    const body = JSON.stringify(content);
    const headers = deliveryHeaders(id, body, [this.key], Math.floor(Date.now() / 1000));
    const { callbackUrl: url, timeoutMs } = this;
    return (await this.outbound.send({ method: 'POST', url, headers, body, timeoutMs, signal })).status;
  }
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
