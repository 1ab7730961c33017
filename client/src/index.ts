import createClient, { type Client } from 'openapi-fetch';
import type { paths as AdminPaths } from './generated/admin.js';
import type { paths as PathsA } from './generated/profile-a.js';
import type { paths as PathsB } from './generated/profile-b.js';
import { type ClientOptions, retryingFetch } from './retrying-fetch.js';
import { TurnStreams } from './turn-events.js';

export type { components as AdminModels } from './generated/admin.js';
export type { components as ModelsA } from './generated/profile-a.js';
export type { components as ModelsB } from './generated/profile-b.js';
export { type CursorPage, everyItem, everyMessage, everySession } from './pages.js';
export { orThrow, RequestError } from './request-error.js';
export type { ClientOptions } from './retrying-fetch.js';
export { type StreamOptions, type TurnEvent, TurnStreams } from './turn-events.js';
export { type DeliveredEvent, verifiedEvent } from './webhooks.js';

/** A client of one gateway: every operation by its path, typed, and the streams of turns. */
export interface GatewayClient<Paths extends object> {
  /** `api.GET('/api/v1/sessions/{id}', { params: { path: { id } } })`, as `openapi-fetch` has it. */
  readonly api: Client<Paths, 'application/json'>;
  /** Turns as they happen. */
  readonly turns: TurnStreams;
}

/** Of the port of Profile A, 16830 unless it is configured. */
export function profileA(options: ClientOptions): GatewayClient<PathsA> {
  return clientOf<PathsA>(options);
}

/** Of the port of Profile B, 3120 unless it is configured. */
export function profileB(options: ClientOptions): GatewayClient<PathsB> {
  return clientOf<PathsB>(options);
}

/** Of the operators' API, at either port. */
export function adminApi(options: ClientOptions): Client<AdminPaths, 'application/json'> {
  return createClient<AdminPaths, 'application/json'>({
    baseUrl: options.baseUrl,
    fetch: retryingFetch(options),
  });
}

function clientOf<Paths extends object>(options: ClientOptions): GatewayClient<Paths> {
  const api = createClient<Paths, 'application/json'>({
    baseUrl: options.baseUrl,
    fetch: retryingFetch(options),
  });
  return { api, turns: new TurnStreams(options) };
}
