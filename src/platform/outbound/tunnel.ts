import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { CompanyProxy } from './egress.js';
import { OutboundFailed } from './outbound.errors.js';

export interface TunnelRequest {
  readonly proxy: CompanyProxy;
  /** A name or an address; IPv6 with or without brackets. */
  readonly host: string;
  readonly port: number;
  /** For the proxy and its response together, in milliseconds. */
  readonly timeoutMs: number;
  /** What TLS to the proxy itself trusts. */
  readonly secureContext?: SecureContext | undefined;
}

/**
 * Asks a proxy for a connection (RFC 9110, 9.3.6) and resolves with the bare socket; the caller adds TLS to the
 * destination. Throws `OutboundFailed` with `timeout`, or with `proxy` when the proxy cannot be reached or refuses.
 */
export function openTunnel({ proxy, host, port, timeoutMs, secureContext }: TunnelRequest): Promise<Socket> {
  const authority = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
  const { authorization, hostname, protocol } = proxy;
  const options = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    agent: false as const,
    headers: {
      host: authority,
      ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
    },
  };
  const request =
    protocol === 'https:'
      ? httpsRequest({ ...options, ...(secureContext === undefined ? {} : { secureContext }) })
      : httpRequest(options);
  return tunnelOf(request, timeoutMs);
}

function tunnelOf(request: ClientRequest, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      request.destroy();
      reject(error instanceof OutboundFailed ? error : new OutboundFailed('proxy', error));
    };
    const timer = setTimeout(() => fail(new OutboundFailed('timeout')), timeoutMs);
    // Every answer to CONNECT arrives as 'connect', even a refusal.
    request.once('connect', ({ statusCode = 0 }: IncomingMessage, socket: Socket, head: Buffer) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        fail(new Error(`The proxy answered CONNECT with ${statusCode}.`));
        return;
      }
      clearTimeout(timer);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.on('error', fail);
    request.end();
  });
}
