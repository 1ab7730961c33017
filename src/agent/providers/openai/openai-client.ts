import OpenAI from 'openai';
import { providerFetch } from '../wire/provider-fetch.js';
import type { WireOptions } from '../wire/wire-options.js';

/** The longest time-out there is: the clocks of an attempt decide. */
const NEVER_MS = 2 ** 31 - 1;

/** A client that takes nothing from the environment, logs nothing and leaves retries to us. */
export function createOpenAiClient(options: WireOptions): OpenAI {
  return new OpenAI({
    // The client insists on a key; without one of ours the header that would carry it is left out.
    apiKey: options.apiKey || 'none',
    ...(options.apiKey === '' && { defaultHeaders: { Authorization: null } }),
    baseURL: options.baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: NEVER_MS,
    logLevel: 'off',
    fetch: providerFetch,
  });
}
