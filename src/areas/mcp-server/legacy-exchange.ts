import {
  type AuthInfo,
  type EventStore,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { callEventId, isRequestNumber } from './call-ids.js';

/** How soon a client whose stream was cut comes back, in milliseconds. */
export const RETRY_MS = 1000;

interface LegacyTerms {
  readonly parsedBody: Readonly<Record<string, unknown>>;
  readonly authInfo: AuthInfo;
  /** Whether the client can name the call again: it has an MCP session. */
  readonly isResumable: boolean;
}

/** Serves one POST of the protocols before 2026-07-28, with a server and a transport that live only for it. */
export async function serveLegacy(
  server: McpServer,
  request: Request,
  { parsedBody, authInfo, isResumable }: LegacyTerms,
): Promise<Response> {
  const eventStore = isResumable ? eventsOf(parsedBody) : undefined;
  const transport = new WebStandardStreamableHTTPServerTransport({
    retryInterval: RETRY_MS,
    ...(eventStore !== undefined && { eventStore }),
  });
  await server.connect(transport);
  const close = (): void => void server.close().catch(() => undefined);
  request.signal.addEventListener('abort', close, { once: true });
  const response = await transport.handleRequest(request, { parsedBody, authInfo });
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  if (response.body === null || !isStream) {
    close();
    return response;
  }
  const { status, headers } = response;
  return new Response(response.body.pipeThrough(new TransformStream({ flush: close })), { status, headers });
}

/** That of a progress is its number, and that of the empty event with which a stream begins 0; the answer comes after all. */
function positionOf(message: object): number | undefined {
  if (Object.keys(message).length === 0) return 0;
  const { params } = message as { params?: { progress?: unknown } };
  return typeof params?.progress === 'number' ? params.progress : undefined;
}

/** Stores nothing: the id of an event says which call it belongs to, and the turn is in the database. */
function eventsOf(body: Readonly<Record<string, unknown>>): EventStore | undefined {
  const { id: requestId, method, params } = body;
  if (method !== 'tools/call' || !isRequestNumber(requestId)) return undefined;
  const meta = (params as { _meta?: { progressToken?: unknown } } | undefined)?._meta;
  const progressToken = isRequestNumber(meta?.progressToken) ? meta.progressToken : undefined;
  let position = 0;
  return {
    storeEvent: (_stream, message) => {
      position = positionOf(message) ?? position + 1;
      return Promise.resolve(callEventId({ requestId, progressToken, position }));
    },
    replayEventsAfter: () => Promise.reject(new Error('Streams are resumed by GET.')),
  };
}
