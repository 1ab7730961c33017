import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { CollectedBytes } from '../../common/bytes/collected-bytes.js';
import type { HeldBytes } from '../../common/bytes/held-bytes.js';
import { BadRequest, BodyTooLarge, UnsupportedMediaType } from '../../common/errors/gateway-error.js';
import { Settings } from '../../platform/settings/settings.js';
import { familyOf } from '../../platform/tokens/caller.js';
import type { GatewayRequest } from '../gateway-request.js';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency.guard.js';
import { BodyRoom } from './body-room.js';
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
    const { caller } = request;
    const held = caller === undefined ? this.room.enterStranger('') : this.room.enter(familyOf(caller));
    try {
      const maxBytes = this.settings.current.gateway[limit];
      const body = await readJsonBytes(request, response, { maxBytes, held });
      if (request.headers[IDEMPOTENCY_KEY] !== undefined) {
        request.bodyHash = createHash('sha256').update(body).digest('hex');
      }
      const json = body.length === 0 && !announcesBody(request) ? {} : readJsonObject(body);
      request.body = json instanceof Promise ? await json : json;
      holdUntilResponse(request, response, held);
      return true;
    } catch (refusal) {
      held.release();
      throw refusal;
    }
  }
}

/**
 * What was parsed takes memory as long as the request is handled; only small bodies cost nothing here. Throws when the
 * caller has gone meanwhile: the response would not say any more that it is closed.
 */
function holdUntilResponse(request: GatewayRequest, response: Response, held: HeldBytes): void {
  request.held = held;
  if (!held.add(0)) return;
  if (response.closed) throw cutShort();
  response.once('close', () => request.held?.release());
}

function cutShort(): BadRequest {
  return new BadRequest('The connection ended before the whole request was read.');
}

/** Reads the bytes of a body declared as JSON, unparsed. @throws 415, 413, what `held` throws, and 400 when it is cut short */
export function readJsonBytes(
  request: GatewayRequest,
  response: Response,
  { maxBytes, held }: { readonly maxBytes: number; readonly held: HeldBytes },
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
  { askForIt, held }: { readonly askForIt: () => void; readonly held: HeldBytes },
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? '0');
  if (announced > maxBytes) throw tooLarge(maxBytes);
  askForIt();
  return new Promise<Buffer>((resolve, reject) => {
    const body = new CollectedBytes();
    const cut = (): void => reject(cutShort());
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
      request.off('data', add).off('close', cut).off('error', cut).on('error', ignored);
    });
    // The error is that of the caller's connection, not one of the gateway.
    request.once('error', cut);
    request.once('close', cut);
  });
}

function ignored(): void {
  // Of a connection that is gone once the body is here; its response tells.
}

function tooLarge(maxBytes: number): BodyTooLarge {
  return new BodyTooLarge(`The body is larger than the ${maxBytes} bytes allowed here.`);
}
