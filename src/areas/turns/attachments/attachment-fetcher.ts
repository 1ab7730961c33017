import { Injectable } from '@nestjs/common';
import type { HeldBytes } from '../../../common/bytes/held-bytes.js';
import { BadRequest, GatewayError } from '../../../common/errors/gateway-error.js';
import { newId } from '../../../common/ids/typeid.js';
import { MEDIA_TYPE } from '../../../common/text/media-type.js';
import { OutboundFailed, OutboundRefused } from '../../../platform/outbound/outbound.errors.js';
import { OutboundClient, type OutboundResponse } from '../../../platform/outbound/outbound-client.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { NewAttachment, RemoteAttachment } from '../message.js';

/** An answer without a media type, or with this one, says nothing: the caller's media type then counts. */
const UNTYPED = 'application/octet-stream';

interface FetchLimits {
  /** Bytes that are left for the message. */
  readonly room: number;
  readonly deadline: number;
  readonly held: HeldBytes | undefined;
}

/** Fetches attachments given by URL, through the outbound guard and within the limits of a message. */
@Injectable()
export class AttachmentFetcher {
  constructor(
    private readonly outbound: OutboundClient,
    private readonly settings: Settings,
  ) {}

  /**
   * All attachments with their bytes, in order. They are fetched one after the other, so that memory never holds more
   * than one message may have; what arrives counts as `held`. Throws `BadAttachment`, which names the first attachment
   * that could not be fetched, and what `held` throws.
   */
  async complete(
    given: readonly (NewAttachment | RemoteAttachment)[],
    held?: HeldBytes,
  ): Promise<readonly NewAttachment[]> {
    const { allow_remote_fetch: isAllowed, fetch_timeout_ms: timeoutMs } = this.settings.current.multimodal;
    for (const [index, one] of isAllowed ? [] : given.entries())
      if (isRemote(one)) throw new BadAttachment(pathOf(one, index), 'is not fetched here: send the bytes');
    const deadline = performance.now() + timeoutMs;
    const complete: NewAttachment[] = [];
    let room = given.reduce((left, one) => left - (isRemote(one) ? 0 : one.sizeBytes), MAX_ATTACHED_BYTES);
    for (const [index, one] of given.entries()) {
      const whole = isRemote(one) ? await this.fetch(one, pathOf(one, index), { room, deadline, held }) : one;
      if (isRemote(one)) room -= whole.sizeBytes;
      complete.push(whole);
    }
    return complete;
  }

  private async fetch(remote: RemoteAttachment, path: string, limits: FetchLimits): Promise<NewAttachment> {
    const answer = await this.read(remote.url, path, limits);
    const problem = problemOf(answer);
    if (problem !== undefined) throw new BadAttachment(path, problem);
    const { type, name } = remote;
    const mimeType = mediaTypeOf(answer) ?? remote.mimeType;
    if (type !== 'file' && !mimeType.startsWith(`${type}/`)) {
      throw new BadAttachment(path, `was answered with ${mimeType}, which is no ${type}`);
    }
    return { id: newId('att'), type, name, mimeType, sizeBytes: answer.body.length, data: answer.body };
  }

  private async read(
    url: string,
    path: string,
    { room: maxBytes, deadline, held }: FetchLimits,
  ): Promise<OutboundResponse> {
    const timeoutMs = Math.max(1, deadline - performance.now());
    const onBytes = (bytes: number) => held?.add(bytes);
    const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'agent-gateway' };
    try {
      return await this.outbound.read({ method: 'GET', url, headers, maxBytes, timeoutMs, onBytes });
    } catch (error) {
      if (error instanceof OutboundRefused) throw new BadAttachment(path, error.message);
      // There is no room for it.
      if (error instanceof OutboundFailed && error.cause instanceof GatewayError) throw error.cause;
      if (error instanceof OutboundFailed) throw new BadAttachment(path, failureText(error));
      throw error;
    }
  }
}

function pathOf({ path }: RemoteAttachment, index: number): string {
  return path ?? `attachments.${index}.url`;
}

function isRemote(one: NewAttachment | RemoteAttachment): one is RemoteAttachment {
  return 'url' in one;
}

function failureText({ reason, reasonText }: OutboundFailed): string {
  return reason === 'too_large'
    ? 'makes the attachments more than 20 MiB decoded in all'
    : `could not be fetched: ${reasonText}`;
}

function problemOf({ status, headers, body }: OutboundResponse): string | undefined {
  if (status >= 300 && status < 400) return 'was answered with a redirect, which is not followed';
  if (status < 200 || status >= 300) return `could not be fetched: it was answered with status ${status}`;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return 'was answered with compressed bytes, though none were asked for';
  return body.length === 0 ? 'was answered without any bytes' : undefined;
}

function mediaTypeOf({ headers }: OutboundResponse): string | undefined {
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  return type === undefined || type === UNTYPED || !MEDIA_TYPE.test(type) ? undefined : type;
}

/** What all attachments of a message may have together (docs/specification/silences.md, Messages). */
export const MAX_ATTACHED_BYTES = 20 * 1024 * 1024;
/** How many a message may have. */
export const MAX_ATTACHMENTS = 10;

/** An attachment that is refused; names the field. */
export class BadAttachment extends BadRequest {
  constructor(path: string, message: string) {
    super(`${path}: ${message}`, { details: { fields: [{ path, message }] } });
  }
}
