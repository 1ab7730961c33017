import Anthropic from '@anthropic-ai/sdk';
import { OFFICIAL_BASE_URLS } from '../default-models.js';
import { providerFetch } from '../wire/provider-fetch.js';
import type { WireOptions } from '../wire/wire-options.js';

/** The longest time-out there is: the clocks of an attempt decide. */
const NEVER_MS = 2 ** 31 - 1;

/** A client that takes nothing from the environment or the disk, logs and traces nothing and leaves retries to us. */
export function createAnthropicClient(options: WireOptions): Anthropic {
  return new Anthropic({
    // Any key keeps the client from looking for credentials elsewhere; the headers decide what is sent.
    apiKey: options.apiKey || 'none',
    authToken: null,
    webhookKey: null,
    defaultHeaders: keyHeaders(options),
    baseURL: options.baseUrl,
    maxRetries: 0,
    timeout: NEVER_MS,
    logLevel: 'off',
    openTelemetry: false,
    fetch: providerFetch,
  });
}

function keyHeaders({ apiKey, baseUrl }: WireOptions): Record<string, string | null> {
  if (apiKey === '') return { Authorization: null };
  // Many compatible servers know only the older header.
  return baseUrl === OFFICIAL_BASE_URLS.anthropic ? {} : { 'X-Api-Key': apiKey };
}
