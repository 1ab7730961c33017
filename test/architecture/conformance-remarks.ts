/**
 * Remarks that docs/conformance.md adds to rows on which the contract is silent or contradicts itself. Links are
 * relative to docs/.
 */
export const REMARKS: Readonly<Record<string, string>> = {
  '2.4 | secret | String | supplied on registration; not returned in the Profile B responses':
    'In no response of either profile; sealed in the database ([webhooks](webhooks.md)).',
  '2.4 | active | boolean | Profile B': 'In Profile A as well: its item is that of Profile B.',
  '2.4 | created_at | timestamp | Profile B': 'In Profile A as well: its item is that of Profile B.',

  '3 | Session, Profile A | active, completed (list filter also accepts all)':
    "`active` is Profile B's active and idle, `completed` its terminated ([0004](decisions/0004-a-sessions-status-is-computed-from-its-silence.md)).",
  '3 | Session, Profile B | active, idle, terminated':
    'Silence makes a session idle and then ends it ([0004](decisions/0004-a-sessions-status-is-computed-from-its-silence.md)).',
  '3 | Channel | connected, disconnected, reconnecting': 'How the state changes: [channels](channels.md).',
  '3 | MCP server | running (Profile A), connected, reconnecting (Profile B)':
    '`disconnected` in both, when a server has refused our credentials ([mcp](mcp.md)).',
  '3 | Plugin | loaded, disabled (Profile B); Profile A has boolean enabled':
    'One that does not load is listed as `failed` ([0602](decisions/0602-a-plugin-that-fails-to-load-is-listed-as-failed.md)).',
  '3 | loaded | POST plugins/:name/reload (B) | plugin exists | loaded | unload then load again; 200 with name, status, version':
    'It also loads a disabled plugin, which Profile B cannot bring back otherwise. The new version is loaded first, so a reload that fails is 409 and the old version goes on serving ([plugins](plugins.md)).',
  '3 | active (or other live state) | DELETE sessions/:id | session exists | terminated (Profile B) | 204, no body':
    '`completed` in Profile A ([0004](decisions/0004-a-sessions-status-is-computed-from-its-silence.md)).',

  '4.1 | POST | /sessions/:id/messages | JSON body: content, attachments | 200; message response (2.2)':
    'Profile B serves it too, because it has no other way to talk to a session; its [OpenAPI document](profile-b.openapi.json) marks it as an extension.',
  '4.1 | GET | /sessions/:id/messages | query: limit (usize, default 100), before (String, a message id; returns messages before it) | 200; body shape not shown':
    '`messages`, oldest first, and `has_more`. Profile B serves it too.',
  '4.1 | POST | /channels/:name/test | none | tests channel connectivity; response not shown':
    '`name`, `success`, `latency_ms`, `error`; a probe that fails is 200 as well ([channels](channels.md)).',
  '4.1 | GET | /hooks | none | lists webhooks; response not shown': 'As in Profile B.',
  '4.1 | POST | /hooks | JSON body: url (String), events (array of String), secret (String) | registers a webhook; response not shown':
    'As in Profile B.',
  '4.1 | DELETE | /hooks/:id | none | deletes a webhook; response status not shown': 'As in Profile B.',
  '4.1 | GET | /mcp/tools | none | lists all available MCP tools; response not shown':
    '`tools` and `total` ([mcp](mcp.md)).',
  '4.1 | POST | /plugins/:name/enable | none | enables plugin; response not shown':
    '200 with the item of the list; the second time too.',
  '4.1 | POST | /plugins/:name/disable | none | disables plugin; response not shown':
    '200 with the item of the list; the second time too.',
  '4.1 | GET | /metrics | none | 200, content type text/plain; metrics in a text exposition format with HELP and TYPE comment lines':
    'The contract exempts only `/health`, yet its sample sends no token. The gateway asks for `metrics:read` unless `gateway.metrics_public` is on ([configuration](configuration.md#settings)).',
  '4.1 | GET | /config | none | current runtime configuration with sensitive fields redacted; response shape not shown':
    'As in Profile B ([0105](decisions/0105-a-configuration-change-is-built-once-and-then-told.md)).',
  '4.1 | GET | /logs | query: level (debug / info / warn / error; minimum level), limit (usize, default 100), since (String, ISO 8601), component (String, for example agent, gateway, memory) | log entries; response shape not shown':
    'As in Profile B, with `component`, the first segment of the module.',

  '4.2 | GET | /status/health | none | 200; object with healthy (boolean); intended for load balancer probes':
    'Open without a token; 503 while the gateway is not ready.',
  '4.2 | PATCH | /config | JSON object mapping dotted configuration key paths to new values | 200; object with updated (array of String, the keys applied) and reload_required (boolean)':
    'All or nothing, on every replica ([0100](decisions/0100-configuration-changes-at-run-time-are-stored-as-rows.md), [0105](decisions/0105-a-configuration-change-is-built-once-and-then-told.md)).',
  '4.2 | GET | /logs/stream | query: level | Server-Sent Events stream of log entries for real-time tailing':
    'Resumed by `Last-Event-ID` ([0202](decisions/0202-log-streams-read-pages-until-they-are-current-and-then-share-one-tail.md)).',

  '7 | 400 | bad_request | invalid request parameters or body':
    'Also with 405, 413, 414, 415 and 431, which have no word of their own ([0010](decisions/0010-input-is-accepted-as-written-or-refused.md)).',
  '7 | 409 | conflict | resource state conflict, for example session already terminated':
    'In Profile A as well, which does not list it.',
  '7 | 500 | internal_error | unexpected server error':
    'Also with 502 and 504 for the provider, and 503 with `Retry-After`.',

  '8 | Sessions (write) | 10 requests/second':
    'The burst of a token bucket; in Profile A as well, from the same bucket ([0017](decisions/0017-rate-limits-are-a-throttler-guard-over-gcra-buckets.md), [0800](decisions/0800-shared-rate-limits-are-rows-that-are-asked-in-batches.md)).',
  '8 | Config (write) | 5 requests/second': '`POST /config/reload` counts among them.',
};
