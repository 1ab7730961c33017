import { EventEmitter, setMaxListeners } from 'node:events';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher, type RequestInit as UndiciRequestInit, fetch as undiciFetch } from 'undici';
import { CollectedBytes } from '../../common/bytes/collected-bytes.js';
import { Logs } from '../logging/logger.js';
import { traceHeaders } from '../tracing/spans.js';
import { AddressGuard } from './address-guard.js';
import { Egress } from './egress.js';
import { GuardedSockets, guardedConnector } from './guarded-connector.js';
import { OutboundFailed, outboundError } from './outbound.errors.js';

export type OutboundHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface OutboundCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** For everything together: look-up, connection and response. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether plain http is refused, except to addresses that `[security]` names: no one on the way may read what is
   * sent.
   */
  readonly isEncrypted?: boolean;
}

export interface OutboundStatus {
  readonly status: number;
  readonly headers: OutboundHeaders;
}

export interface OutboundResponse extends OutboundStatus {
  readonly body: Buffer;
}

/** What a setting defines for calls of its own. */
export interface OwnTerms {
  /** Hosts, as in URLs, that may be private for these calls. */
  readonly hosts: ReadonlySet<string>;
  /** A PEM file of authorities that are trusted beside the usual ones; empty for none. */
  readonly caFile: string;
  /** The key of the setting that names the file, for error messages. */
  readonly caKey: string;
}

interface ReadTerms {
  /** Of the body. */
  readonly maxBytes: number;
  /** Called before more bytes are kept; what it throws ends the call, as the cause of an `OutboundFailed`. */
  readonly onBytes?: (bytes: number) => void;
}

interface Way {
  readonly agent: Agent;
  readonly ownHosts?: ReadonlySet<string>;
}

/**
 * Unread bodies up to this size are read to the end, so that the connection can be used again; for longer ones it is
 * cut.
 */
const MAX_DRAINED_BYTES = 16_384;
const MAX_HEADER_BYTES = 32_768;
/** How many connections to one origin may be open at once; further calls wait for one, within their time. */
const MAX_CONNECTIONS = 2048;

/**
 * The only way out of the gateway for a URL from a caller or a configuration: http and https, to addresses that the
 * guard allows, without redirects, limited in size and time. Keeps connections alive.
 */
@Injectable()
export class OutboundClient implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly agent: Agent;

  constructor(
    private readonly guard: AddressGuard,
    private readonly logs: Logs,
    private readonly egress: Egress,
  ) {
    const connect = guardedConnector(guard, egress);
    this.agent = new Agent({ connect, connections: MAX_CONNECTIONS, maxHeaderSize: MAX_HEADER_BYTES });
  }

  onApplicationBootstrap(): void {
    const networks = this.guard.allowedNetworks;
    if (networks.length === 0) return;
    this.logs
      .for('outbound')
      .info('webhooks and other outbound calls may reach these networks', { networks });
  }

  onApplicationShutdown(): Promise<void> {
    return this.agent.destroy();
  }

  /**
   * Returns the status and headers of the answer and discards its body. A redirect is an answer like any other. Throws
   * `OutboundRefused` and `OutboundFailed`.
   */
  send(call: OutboundCall): Promise<OutboundStatus> {
    return this.call(call, ({ statusCode: status, headers, body }, deadline) => {
      // The answer counts however its body ends, but the body must end.
      const clear = (): void => deadline.clear();
      body.dump({ limit: MAX_DRAINED_BYTES }).then(clear, clear);
      return { status, headers };
    });
  }

  /** The whole answer. Throws like `send`, and `OutboundFailed` with `too_large` past `maxBytes` of body. */
  read(call: OutboundCall & ReadTerms): Promise<OutboundResponse> {
    return this.call(call, readUpTo(call));
  }

  /**
   * The same for hosts that the operator's own file names: they may be private, and have an authority of their own. The
   * connection is not kept, so the file is read at each call. Also throws what is wrong with the file.
   */
  async readOwn(
    call: OutboundCall & { readonly maxBytes: number },
    terms: OwnTerms,
  ): Promise<OutboundResponse> {
    const { hosts: ownHosts, caFile, caKey } = terms;
    const egress = caFile === '' ? this.egress : this.egress.trusting(caKey, caFile);
    const connect = guardedConnector(this.guard, egress, ownHosts);
    const agent = new Agent({ connect, connections: 1, maxHeaderSize: MAX_HEADER_BYTES });
    try {
      return await this.call(call, readUpTo(call), { agent, ownHosts });
    } finally {
      await agent.destroy();
    }
  }

  /**
   * `fetch` for libraries that take one. The caller bounds time with `init.signal` and size by what it reads; a
   * redirect is an error. Throws `OutboundRefused` and `OutboundFailed`.
   */
  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    try {
      const url = this.guard.checkUrl(String(input));
      const headers = { ...Object.fromEntries(new Headers(init.headers)), ...traceHeaders() };
      const guarded = {
        ...init,
        headers,
        redirect: 'error',
        dispatcher: this.agent,
      } as unknown as UndiciRequestInit;
      return await undiciFetch(url, guarded);
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw outboundError(error);
    }
  };

  /** For a library that opens a WebSocket; the caller cuts it. */
  sockets(): GuardedSockets {
    return new GuardedSockets(this.guard, this.egress);
  }

  private async call<Result>(
    { method, url: text, headers, body, timeoutMs, signal, isEncrypted = false }: OutboundCall,
    take: (answer: Dispatcher.ResponseData, deadline: Deadline) => Result | Promise<Result>,
    { agent, ownHosts }: Way = { agent: this.agent },
  ): Promise<Result> {
    const deadline = new Deadline(timeoutMs, signal);
    try {
      const url = this.guard.checkUrl(text, ownHosts);
      if (isEncrypted) this.guard.checkEncrypted(url);
      const answer = await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined ? {} : { body }),
        signal: deadline,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      return await take(answer, deadline);
    } catch (error) {
      deadline.clear();
      throw deadline.reason ?? outboundError(error);
    }
  }
}

function readUpTo(terms: ReadTerms) {
  return async (answer: Dispatcher.ResponseData, deadline: Deadline): Promise<OutboundResponse> => {
    const { statusCode: status, headers, body } = answer;
    const bytes = await collect(body, terms);
    deadline.clear();
    return { status, headers, body: bytes };
  };
}

async function collect(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
  { maxBytes, onBytes }: ReadTerms,
): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const chunk of body) {
    if (collected.length + chunk.length > maxBytes) {
      body.destroy();
      throw new OutboundFailed('too_large');
    }
    onBytes?.(chunk.length);
    collected.add(chunk);
  }
  return collected.take();
}

/**
 * A time limit and a caller's abort for one call; nothing is left of it once it is cleared. It is an emitter because
 * the client accepts one as a signal, and an `AbortController` costs as much as the rest of the call.
 */
export class Deadline extends EventEmitter {
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = (): void => this.end(new OutboundFailed('aborted'));
  aborted = false;
  /** Why it was aborted, once it was. */
  reason: OutboundFailed | undefined;

  constructor(
    timeoutMs: number,
    private readonly outer: AbortSignal | undefined,
  ) {
    super();
    this.timer = setTimeout(() => this.end(new OutboundFailed('timeout')), timeoutMs);
    if (outer === undefined) return;
    // Each call listens until it is over: many calls at once are no leak, of which Node would warn.
    setMaxListeners(0, outer);
    outer.addEventListener('abort', this.onAbort);
    if (outer.aborted) this.onAbort();
  }

  clear(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.onAbort);
  }

  private end(reason: OutboundFailed): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.emit('abort');
  }
}
