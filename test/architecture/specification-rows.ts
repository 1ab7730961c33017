import type { ProfileId } from '../../src/http/profiles/profile.js';

/** One row of a table of the specification. */
export interface SpecificationRow {
  /** What a test's title says to quote it: its section and its cells, word for word. */
  readonly quote: string;
  readonly cells: readonly string[];
  /** The profiles that it holds for. */
  readonly profiles: readonly ProfileId[];
}

export interface SpecificationTable {
  readonly section: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly SpecificationRow[];
}

const A: readonly ProfileId[] = ['a'];
const B: readonly ProfileId[] = ['b'];
const BOTH: readonly ProfileId[] = ['a', 'b'];

function table(
  section: string,
  name: string,
  profiles: readonly ProfileId[],
  columns: string,
  rows: readonly string[],
): SpecificationTable {
  return {
    section,
    name,
    columns: columns.split(' | '),
    rows: rows.map((row) => ({
      quote: `${section} | ${row}`,
      cells: row.split(' | '),
      profiles: namedIn(row) ?? profiles,
    })),
  };
}

/** The one profile of a row in a table of both. */
function namedIn(row: string): readonly ProfileId[] | undefined {
  if (/\(A\)|^Session, Profile A/.test(row)) return A;
  return /\(B\)|^Session, Profile B/.test(row) ? B : undefined;
}

/**
 * Every table of the specification in its order, every row in its words. Webhooks, errors and rate limits are written down for
 * Profile B there, and hold for Profile A as well, where the specification leaves them open.
 */
export const SPECIFICATION_TABLES: readonly SpecificationTable[] = [
  table('2.1', 'Session, Profile A', A, 'Field | Type | Appears in', [
    'session_id | String | create, list, detail',
    'created_at | timestamp | create, list, detail',
    'channel | String | create, list, detail',
    'status | String | create, list, detail',
    'message_count | integer | list, detail',
    'model | String | detail',
    'total_tokens | integer | detail',
  ]),
  table('2.1', 'Create request, Profile A', A, 'Field | Type | Notes', [
    'channel | String | channel identifier; default `api`',
    'user_id | String | user identifier',
    'system_prompt | String | overrides the default system prompt',
    'model | String | overrides the default model',
  ]),
  table('2.1', 'Session, Profile B', B, 'Field | Type | Appears in', [
    'id | String | create, list, detail',
    'channel | String | all',
    'user_id | String | all',
    'status | String | all',
    'created_at | timestamp | all',
    'metadata | object (free-form key/value) | create, detail',
    'last_activity | timestamp | list, detail',
    'turn_count | integer | detail',
    'token_usage | object with `input` (integer) and `output` (integer) | detail',
  ]),
  table('2.4', 'Webhook (hook)', BOTH, 'Field | Type | Notes', [
    'id | String | assigned by the service',
    'url | String | target URL',
    'events | array of String | subscribed event names (see Events)',
    'secret | String | supplied on registration; not returned in the Profile B responses',
    'active | boolean | Profile B',
    'created_at | timestamp | Profile B',
  ]),
  table('2.8', 'System status, Profile B', B, 'Field | Type', [
    'status | String',
    'version | String',
    'uptime_secs | integer',
    'active_sessions | integer',
    'channels | object: connected (integer), total (integer)',
    'plugins | object: loaded (integer), total (integer)',
    'memory | object: backend (String), entries (integer)',
    'provider | object: name (String), model (String)',
  ]),
  table('3', 'Observed state values', BOTH, 'Resource | Values', [
    'Session, Profile A | active, completed (list filter also accepts all)',
    'Session, Profile B | active, idle, terminated',
    'Channel | connected, disconnected, reconnecting',
    'MCP server | running (Profile A), connected, reconnecting (Profile B)',
    'Plugin | loaded, disabled (Profile B); Profile A has boolean enabled',
  ]),
  table('3', 'Transitions shown', BOTH, 'From | Trigger | Condition | To | Also', [
    '(none) | POST sessions | valid request | active | 201 returned with the new session',
    'active (or other live state) | DELETE sessions/:id | session exists | terminated (Profile B) | 204, no body',
    'terminated | DELETE sessions/:id | session already terminated | unchanged | 409 conflict is the documented example of a state conflict',
    'any channel state | POST channels/:name/restart (B) | channel exists | reconnecting | 200 with name and status',
    'any MCP state | POST mcp/:name/reconnect (B) | server exists | reconnecting | 200 with name and status',
    'loaded | POST plugins/:name/reload (B) | plugin exists | loaded | unload then load again; 200 with name, status, version',
    'loaded | POST plugins/:name/disable (B) | plugin exists | disabled | plugin is not unloaded; 200',
    'disabled | POST plugins/:name/enable (A) | plugin exists | enabled | response not shown',
    'enabled | POST plugins/:name/disable (A) | plugin exists | disabled | response not shown',
  ]),
  table('4.1', 'Endpoints, Profile A', A, 'Method | Path | Request | Response', [
    'POST | /sessions | JSON body: channel, user_id, system_prompt, model | 201; session (create shape)',
    'GET | /sessions | query: status (active / completed / all), limit (usize, default 50), offset (usize) | 200; object with sessions (array of session list items) and total (integer)',
    'GET | /sessions/:id | none | 200; session detail',
    'DELETE | /sessions/:id | none | 204, no body',
    'POST | /sessions/:id/messages | JSON body: content, attachments | 200; message response (2.2)',
    'GET | /sessions/:id/messages | query: limit (usize, default 100), before (String, a message id; returns messages before it) | 200; body shape not shown',
    'GET | /channels | none | 200; object with channels (array)',
    'POST | /channels/:name/test | none | tests channel connectivity; response not shown',
    'GET | /hooks | none | lists webhooks; response not shown',
    'POST | /hooks | JSON body: url (String), events (array of String), secret (String) | registers a webhook; response not shown',
    'DELETE | /hooks/:id | none | deletes a webhook; response status not shown',
    'GET | /mcp/servers | none | 200; object with servers (array)',
    'GET | /mcp/tools | none | lists all available MCP tools; response not shown',
    'GET | /plugins | none | 200; object with plugins (array)',
    'POST | /plugins/:name/enable | none | enables plugin; response not shown',
    'POST | /plugins/:name/disable | none | disables plugin; response not shown',
    'GET | /skills | none | 200; object with skills (array)',
    'GET | /health | none; no authentication | 200; health object',
    'GET | /info | none | 200; info object',
    'GET | /metrics | none | 200, content type text/plain; metrics in a text exposition format with HELP and TYPE comment lines',
    'GET | /config | none | current runtime configuration with sensitive fields redacted; response shape not shown',
    'POST | /config/reload | none | 200; object with reloaded (boolean) and changes (array of String, dotted config key paths)',
    'GET | /logs | query: level (debug / info / warn / error; minimum level), limit (usize, default 100), since (String, ISO 8601), component (String, for example agent, gateway, memory) | log entries; response shape not shown',
  ]),
  table('4.2', 'Endpoints, Profile B', B, 'Method | Path | Request | Response', [
    'POST | /sessions | JSON body: channel, user_id, metadata | 201; session (create shape)',
    'GET | /sessions | query: status (String, default active; values active, idle, terminated), channel (String, default all channels), limit (usize, default 50), offset (usize, default 0) | 200; object with sessions (array of list items) and total (integer)',
    'GET | /sessions/:id | none | 200; session detail',
    'DELETE | /sessions/:id | none | 204, no body',
    'GET | /channels | none | 200; object with channels (array)',
    'POST | /channels/:name/restart | none | 200; name, status',
    'GET | /channels/:name/health | none | 200; channel health',
    'GET | /hooks | none | 200; object with hooks (array)',
    'POST | /hooks | JSON body: url, events (array of String), secret | 201; webhook (id, url, events, active, created_at)',
    'DELETE | /hooks/:id | none | 204, no body',
    'GET | /mcp | none | 200; object with servers (array)',
    'POST | /mcp/:name/reconnect | none | 200; name, status',
    'GET | /plugins | none | 200; object with plugins (array)',
    'POST | /plugins/:name/reload | none | 200; name, status, version',
    'POST | /plugins/:name/disable | none | 200; name, status',
    'GET | /skills | none | 200; object with skills (array)',
    'GET | /status | none | 200; system status',
    'GET | /status/health | none | 200; object with healthy (boolean); intended for load balancer probes',
    'GET | /config | none | 200; runtime configuration, secrets redacted',
    'PATCH | /config | JSON object mapping dotted configuration key paths to new values | 200; object with updated (array of String, the keys applied) and reload_required (boolean)',
    'GET | /logs | query: level (trace / debug / info / warn / error, default info), module (String, default all; for example agent, channel::telegram-style names), since (String, ISO 8601 timestamp or duration such as 1h or 30m; default one hour ago), limit (usize, default 100), stream (boolean, default false) | 200; object with entries and total; when stream is true a Server-Sent Events stream',
    'GET | /logs/stream | query: level | Server-Sent Events stream of log entries for real-time tailing',
  ]),
  table('7', 'Status codes and codes', BOTH, 'HTTP | code | Meaning', [
    '400 | bad_request | invalid request parameters or body',
    '401 | unauthorized | missing or invalid bearer token',
    '403 | forbidden | token lacks required permissions',
    '404 | not_found | resource does not exist',
    '409 | conflict | resource state conflict, for example session already terminated',
    '429 | rate_limited | too many requests',
    '500 | internal_error | unexpected server error',
  ]),
  table('8', 'Rate limits, per token', BOTH, 'Endpoint group | Limit', [
    'Sessions (write) | 10 requests/second',
    'Sessions (read) | 50 requests/second',
    'Config (write) | 5 requests/second',
    'All other endpoints | 30 requests/second',
  ]),
];

export const SPECIFICATION_ROWS: readonly SpecificationRow[] = SPECIFICATION_TABLES.flatMap(
  ({ rows }) => rows,
);
