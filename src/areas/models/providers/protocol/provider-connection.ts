import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import type { CompanyProxy, Egress } from '../../../../platform/outbound/egress.js';
import { openTunnel } from '../../../../platform/outbound/tunnel.js';
import type { ProviderAddress } from '../../model-provider.port.js';

/** How long an unused connection is kept, in milliseconds; a shorter time that the provider announces wins. */
const KEEP_UNUSED_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
const AGENT_OPTIONS = { keepAlive: true, timeout: KEEP_UNUSED_MS, maxFreeSockets: 64 };

export interface Posting {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * The connections to one provider, kept for the next call, directly or through the proxy of the environment. The proxy
 * gets the provider's name: the operator's own setting decides where calls go, and proxies filter by name. The global
 * `fetch` is not used: it drops unused connections after 4 s, so that most turns would begin with a handshake, and
 * after every aborted answer it opens a connection that nobody uses.
 */
export class ProviderConnection {
  readonly address: ProviderAddress;
  private readonly isSecure: boolean;
  /** For every request; parsing the URL each time costs more than the rest of making a request. */
  private readonly options: RequestOptions;

  constructor(url: URL, egress: Egress) {
    const { protocol, hostname } = url;
    const isSecure = protocol === 'https:';
    this.isSecure = isSecure;
    const port = Number(url.port) || (isSecure ? 443 : 80);
    this.address = { host: hostname, port };
    const proxy = egress.proxyFor({ protocol, hostname, port });
    const { secureContext } = egress;
    const options = { ...AGENT_OPTIONS, ...(secureContext === undefined ? {} : { secureContext }) };
    const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(AGENT_OPTIONS);
    if (proxy !== undefined) tunnelled(agent, { proxy, egress, host: hostname, port, isSecure });
    this.options = { ...urlToHttpOptions(url), method: 'POST', agent };
  }

  /** Sends one request and resolves with the start of the answer. Throws what the socket throws. */
  post({ headers, body, signal }: Posting): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const options = { ...this.options, headers, signal };
      const request = this.isSecure ? httpsRequest(options) : httpRequest(options);
      request.once('response', resolve);
      request.on('error', reject);
      request.end(body);
    });
  }
}

interface TunnelledTarget {
  readonly proxy: CompanyProxy;
  readonly egress: Egress;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

type Connected = (error: Error | null, socket?: Socket) => void;

/** Lets an agent open its connections through a proxy (`agent.createConnection` of Node's documentation). */
function tunnelled(agent: HttpAgent, { proxy, egress, host, port, isSecure }: TunnelledTarget): void {
  const { secureContext } = egress;
  const createConnection = (_options: object, connected: Connected): void => {
    openTunnel({ proxy, host, port, timeoutMs: CONNECT_TIMEOUT_MS, secureContext }).then(
      (socket) => {
        if (!isSecure) return connected(null, socket);
        const context = secureContext === undefined ? {} : { secureContext };
        const secured = tlsConnect({ socket, ...(isIP(host) === 0 && { servername: host }), ...context });
        // Until it is secured, its failure is the connection's; afterwards the request's.
        secured.once('error', connected);
        secured.once('secureConnect', () => {
          secured.off('error', connected);
          connected(null, secured);
        });
      },
      (error: unknown) => connected(error as Error),
    );
  };
  Object.assign(agent, { createConnection });
}
