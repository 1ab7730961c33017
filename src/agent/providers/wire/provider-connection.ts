import {
  Agent as HttpAgent,
  globalAgent as httpGlobal,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, globalAgent as httpsGlobal, request as httpsRequest } from 'node:https';

/** How long an unused connection is kept, in milliseconds; a provider that announces less is believed. */
const KEEP_UNUSED_MS = 60_000;
const AGENT_OPTIONS = { keepAlive: true, timeout: KEEP_UNUSED_MS, maxFreeSockets: 64 };

const plain = new HttpAgent({ ...AGENT_OPTIONS, ...proxyOf(httpGlobal) });
const secure = new HttpsAgent({ ...AGENT_OPTIONS, ...proxyOf(httpsGlobal) });

export interface Posting {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and answers with the beginning of the response. Connections are kept for the next call.
 * The global `fetch` is not used: it drops unused connections after 4 s, so that most turns would begin with a
 * handshake, and it opens a connection for nobody after every answer that is aborted.
 */
export function post(url: URL, posting: Posting): Promise<IncomingMessage> {
  const { headers, body, signal } = posting;
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, signal };
    const request =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, agent: secure })
        : httpRequest(url, { ...options, agent: plain });
    request.once('response', resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The provider closed an unused connection just as it was taken: this says nothing about the request.
      const isStale = request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted;
      if (isStale) resolve(post(url, posting));
      else reject(error);
    });
    request.end(body);
  });
}

/** Newer versions of Node lead their own agents through the proxy that the environment names, when told to. */
function proxyOf(agent: object): object {
  const options: unknown = 'options' in agent ? agent.options : undefined;
  const isKnown = typeof options === 'object' && options !== null && 'proxyEnv' in options;
  return isKnown ? { proxyEnv: options.proxyEnv } : {};
}
