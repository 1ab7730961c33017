import Anthropic from '@anthropic-ai/sdk';
import { OFFICIAL_BASE_URLS } from '../default-models.js';
import { type CallTarget, callTarget } from '../wire/provider-call.js';
import type { WireOptions } from '../wire/wire-options.js';

/** Where Anthropic's SDK sends messages, with nothing that it takes from the environment or the disk. */
export async function anthropicTarget(options: WireOptions): Promise<CallTarget> {
  const client = new Anthropic({
    // Any key keeps the client from looking for credentials elsewhere; the headers decide what is sent.
    apiKey: options.apiKey || 'none',
    authToken: null,
    webhookKey: null,
    defaultHeaders: keyHeaders(options),
    baseURL: options.baseUrl,
    logLevel: 'off',
    openTelemetry: false,
  });
  return callTarget(
    await client.buildRequest({ method: 'post', path: '/v1/messages', body: {}, stream: true }),
    options.egress,
  );
}

function keyHeaders({ apiKey, baseUrl }: WireOptions): Record<string, string | null> {
  if (apiKey === '') return { Authorization: null };
  // Many compatible servers know only the older header.
  return baseUrl === OFFICIAL_BASE_URLS.anthropic ? {} : { 'X-Api-Key': apiKey };
}
