import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { CollectedBytes } from '../../common/bytes/collected-bytes.js';
import { BadRequest, BodyTooLarge, UnsupportedMediaType } from '../../common/errors/gateway-error.js';
import { Settings } from '../../platform/settings/settings.js';
import type { GatewayRequest } from '../gateway-request.js';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency.guard.js';
import { BodyRoom, type HeldBody } from './body-room.js';
import { readJsonObject } from './json-bytes.js';
import { BODY_LIMIT, type BodyLimit } from './takes-body.decorator.js';

const JSON_TYPE = 'application/json';
const JSON_TYPES = /^application\/(?:[\w.+-]{1,64}\+)?json$/i;

/** Fourth check: reads the body of callers that passed the others, and lets only valid JSON through. */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  constructor(
    private readonly settings: Settings,
    private readonly room: BodyRoom,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const limit: unknown = Reflect.getMetadata(BODY_LIMIT, context.getHandler());
    if (limit === undefined) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    return this.read(request, http.getResponse<Response>(), limit as BodyLimit);
  }

  private async read(request: GatewayRequest, response: Response, limit: BodyLimit): Promise<true> {
    const held = this.room.enter(request.caller?.tokenId ?? '');
    try {
      const maxBytes = this.settings.current.gateway[limit];
      const body = await readJsonBytes(request, response, { maxBytes, held });
      if (request.headers[IDEMPOTENCY_KEY] !== undefined) {
        request.bodyHash = createHash('sha256').update(body).digest('hex');
      }
      const json = body.length === 0 && !announcesBody(request) ? {} : readJsonObject(body);
      request.body = json instanceof Promise ? await json : json;
      return true;
    } finally {
      held.release();
    }
  }
}

/** Reads the bytes of a body declared as JSON, unparsed. @throws 415, 413, what `held` throws, and 400 when it is cut short */
export function readJsonBytes(
  request: GatewayRequest,
  response: Response,
  { maxBytes, held }: { readonly maxBytes: number; readonly held: HeldBody },
): Promise<Buffer> {
  refuseOtherMediaTypes(request);
  const askForIt = (): void => {
    if (waitsToBeAsked(request)) response.writeContinue();
  };
  return readBody(request, maxBytes, { askForIt, held });
}

function waitsToBeAsked(request: GatewayRequest): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}

/** A request without any body counts as the empty object. */
function announcesBody(request: GatewayRequest): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || (request.headers['content-length'] ?? '0') !== '0'
  );
}

function refuseOtherMediaTypes(request: GatewayRequest): void {
  const { 'content-encoding': encoding = 'identity', 'transfer-encoding': transfer = 'chunked' } =
    request.headers;
  if (encoding.toLowerCase() !== 'identity' || transfer.toLowerCase() !== 'chunked') {
    throw new UnsupportedMediaType('Compressed bodies are not read: send the JSON as it is.');
  }
  const sent = request.headers['content-type'];
  if (sent === JSON_TYPE || (sent === undefined && !announcesBody(request))) return;
  const [type = '', ...parameters] = (sent ?? '').split(';').map((part) => part.trim());
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/i.test(charset);
  if (!JSON_TYPES.test(type) || !utf8) {
    throw new UnsupportedMediaType(
      'The body has to be JSON in UTF-8: send "Content-Type: application/json".',
    );
  }
}

/**
 * Reads the whole body, at most `maxBytes`; one whose announced length is larger is refused unread. Calls `askForIt` before
 * reading, for clients that wait for "100 Continue". Counts arriving bytes in `held` and throws its refusals.
 */
function readBody(
  request: IncomingMessage,
  maxBytes: number,
  { askForIt, held }: { readonly askForIt: () => void; readonly held: HeldBody },
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? '0');
  if (announced > maxBytes) throw tooLarge(maxBytes);
  askForIt();
  return new Promise<Buffer>((resolve, reject) => {
    const body = new CollectedBytes();
    const cutShort = (): void =>
      reject(new BadRequest('The connection ended before the whole body had arrived.'));
    const add = (chunk: Buffer): void => {
      try {
        if (body.length + chunk.length > maxBytes) throw tooLarge(maxBytes);
        held.add(chunk.length);
        body.add(chunk);
      } catch (refusal) {
        request.off('data', add);
        if (refusal instanceof Error) reject(refusal);
      }
    };
    request.on('data', add);
    request.once('end', () => {
      resolve(body.take());
      // The request lives until its response, and these listeners would keep the bytes in memory. Its end is no error
      // any more.
      request.off('data', add).off('close', cutShort).off('error', cutShort).on('error', ignored);
    });
    // The error is that of the caller's connection, not one of the gateway.
    request.once('error', cutShort);
    request.once('close', cutShort);
  });
}

function ignored(): void {
  // Of a connection that is gone once the body is here; its response tells.
}

function tooLarge(maxBytes: number): BodyTooLarge {
  return new BodyTooLarge(`The body is larger than the ${maxBytes} bytes allowed here.`);
}
