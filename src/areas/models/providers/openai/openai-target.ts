import OpenAI from 'openai';
import { type CallTarget, callTarget } from '../wire/provider-call.js';
import type { WireOptions } from '../wire/wire-options.js';

/** Where OpenAI's SDK sends chats, with nothing that it takes from the environment. */
export async function openAiTarget(options: WireOptions): Promise<CallTarget> {
  const client = new OpenAI({
    // The client insists on a key; without one of ours the header that would carry it is left out.
    apiKey: options.apiKey || 'none',
    ...(options.apiKey === '' && { defaultHeaders: { Authorization: null } }),
    baseURL: options.baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
  });
  return callTarget(
    await client.buildRequest({ method: 'post', path: '/chat/completions', body: {}, stream: true }),
    options.egress,
  );
}
