import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { OutboundClient } from '../../platform/outbound/outbound-client.js';
import type { HttpOutcome, HttpRequest } from './thread/thread-messages.js';

const MAX_BODY_BYTES = 4_194_304;
const MAX_MS = 60_000;
const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;
/** Dropped: they could redirect the request away from the granted host, or belong to the connection. */
const DROPPED_HEADERS: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect', 'keep-alive'],
  ...['te', 'trailer', 'proxy-authorization', 'proxy-connection'],
]);

/** Makes the HTTP requests of plugins, to granted hosts only and through the outbound guard. */
@Injectable()
export class PluginHttp {
  constructor(private readonly outbound: OutboundClient) {}

  /** At most 4 MiB of response and 60 seconds. Never rejects: a failure is a `problem`. */
  async request(hosts: readonly string[], request: HttpRequest, signal: AbortSignal): Promise<HttpOutcome> {
    const method = METHODS.find((one) => one === request.method.toUpperCase());
    if (method === undefined) return { problem: `http_request offers ${METHODS.join(', ')}` };
    if (!isGranted(hosts, request.url)) return { problem: 'this host is not listed in permissions.net.http' };
    const headers = Object.entries(request.headers).filter(
      ([name]) => !DROPPED_HEADERS.has(name.toLowerCase()),
    );
    try {
      const answer = await this.outbound.read({
        ...{ method, url: request.url, headers: Object.fromEntries(headers), timeoutMs: MAX_MS, signal },
        ...(request.body.length === 0 ? {} : { body: Buffer.from(request.body) }),
        maxBytes: MAX_BODY_BYTES,
      });
      const known = Object.entries(answer.headers).map(
        ([name, value = '']) => [name, String(value)] as const,
      );
      return {
        status: answer.status,
        headers: Object.fromEntries(known),
        body: Uint8Array.from(answer.body),
      };
    } catch (error) {
      return { problem: `the request failed: ${sentenceOf(error)}` };
    }
  }
}

/** A granted host without a port means the scheme's default port; `*.` stands for one or more labels. */
export function isGranted(hosts: readonly string[], text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, port } = new URL(text);
  return hosts.some((granted) => {
    const [, host = '', grantedPort = ''] = /^(.*?)(?::(\d+))?$/.exec(granted) ?? [];
    if (port !== grantedPort) return false;
    return host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host;
  });
}
