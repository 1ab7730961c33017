import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { newId } from '../../common/ids/typeid.js';
import type { ListenerId } from '../profiles/profile.js';
import { presentError } from './error-envelope.js';

/** How long a refused connection is still read, so that a reset does not overtake the response. */
const LINGER_MS = 2000;

/** Sends an error on the bare socket, in the listener's envelope, and ends the connection. */
export function sendRawResponse(
  socket: Socket,
  listener: ListenerId,
  error: GatewayError,
  rateHeaders: Readonly<Record<string, string>>,
): void {
  socket.end(responseText(listener, error, rateHeaders));
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

function responseText(
  listener: ListenerId,
  error: GatewayError,
  rateHeaders: Readonly<Record<string, string>>,
): string {
  const body = JSON.stringify(presentError(listener, error));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': newId('req'),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...rateHeaders,
    ...error.headers,
    ...(error.retryAfterSecs === undefined ? {} : { 'Retry-After': error.retryAfterSecs }),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`;
  return `${[statusLine, ...lines].join('\r\n')}\r\n\r\n${body}`;
}
