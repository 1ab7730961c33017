import {
  camelCase,
  type DescribedChannel,
  message,
  operation,
  SIGNATURE_HEADERS,
} from '../../../http/openapi/asyncapi.js';
import type { EmittedName, EventName, EventPayloads } from '../../../platform/events/event-catalogue.js';

/** The deliveries that registered webhooks get. */
export function deliveries(): DescribedChannel {
  const headers = {
    type: 'object',
    required: ['webhook-id', 'webhook-timestamp'],
    properties: SIGNATURE_HEADERS,
  };
  const messages = Object.fromEntries(
    [...deliverySchemas()].map(([event, payload]) => [camelCase(event), message(event, payload, headers)]),
  );
  return {
    channel: {
      address: null,
      title: 'Webhook deliveries',
      description:
        'POSTed to the URL of every webhook that subscribed to the event; unsigned when it has no secret. At least once, and ' +
        'first attempts in the order of `sequence`. Answer with any 2xx within 15 s.',
      messages,
    },
    operations: {
      deliver: operation('send', 'deliveries', Object.keys(messages), {
        summary: 'Notify webhooks of events',
      }),
    },
  };
}

type FieldSchema = Readonly<Record<string, unknown>>;
type PayloadSchemas = {
  readonly [Name in EmittedName]: { readonly [Field in keyof Required<EventPayloads[Name]>]: FieldSchema };
};

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const session = { session_id: text, channel: text, user_id: text };
const turn = { ...session, turn_id: text };
const chat = {
  ...turn,
  message_id: text,
  content: { type: 'string', description: 'The text, only while `hooks.include_content` is set' },
};
const named = { name: text };
const lost = { name: text, error: { type: 'string', description: 'Why the connection is gone' } };
const amount = { type: 'number' };
const budget = {
  scope: { type: 'string', enum: ['all', 'users', 'api_tokens', 'agents'] },
  name: text,
  period: { type: 'string', enum: ['day', 'month'] },
  starts_on: { type: 'string', format: 'date' },
  resets_at: { type: 'string', format: 'date-time' },
  limit_usd: amount,
  spent_usd: amount,
};
const approval = { ...turn, approval_id: text, tool_call_id: text, name: text };
const plugin = { name: text, version: text };

const PAYLOADS: PayloadSchemas = {
  'session.created': session,
  'session.idle': session,
  'session.terminated': { ...session, reason: { type: 'string', enum: ['deleted', 'timeout'] } },
  'message.received': { ...chat, attachments: count },
  'message.sent': {
    ...chat,
    model: text,
    tokens_used: count,
    tool_calls: count,
    finish_reason: { type: 'string', description: 'Why the model stopped', example: 'stop' },
  },
  'tool.executed': {
    ...turn,
    tool_call_id: text,
    name: text,
    status: { type: 'string', enum: ['success', 'error', 'denied', 'timeout'] },
    duration_ms: count,
  },
  'tool.approval_requested': { ...approval, expires_at: { type: 'string', format: 'date-time' } },
  'tool.approval_decided': {
    ...approval,
    status: { type: 'string', enum: ['allowed', 'denied'] },
    decided_by: { type: 'string', description: 'As the audit names them', example: 'token "grace" (tok_1)' },
    reason: text,
  },
  'provider.failed_over': {
    ...{ provider: text, model: text, next_provider: text, next_model: text, agent: text },
    ...{ session_id: text, turn_id: text },
    reason: { type: 'string', description: 'Why it failed', example: 'provider_unreachable' },
  },
  'error.occurred': {
    source: { type: 'string', enum: ['turn', 'hook', 'channel', 'mcp', 'plugin'] },
    reason: { type: 'string', description: 'A fixed word, such as `provider_idle_timeout`' },
    session_id: text,
    turn_id: text,
    hook_id: text,
    name: { type: 'string', description: 'The channel, server or plugin' },
  },
  'channel.connected': named,
  'channel.disconnected': lost,
  'mcp.connected': named,
  'mcp.disconnected': lost,
  'plugin.loaded': plugin,
  'plugin.disabled': plugin,
  'budget.warned': budget,
  'budget.reached': budget,
  'config.updated': { keys: { type: 'array', items: text }, reload_required: { type: 'boolean' } },
  'audit.recorded': {
    ...{ id: text, at: { type: 'string', format: 'date-time' }, actor: text },
    ...{ address: { type: ['string', 'null'] }, action: text, subject: text, result: text },
    details: { type: 'object' },
  },
};

const OPTIONAL: ReadonlySet<string> = new Set(['content', 'error']);
const OPTIONAL_IN: Readonly<Partial<Record<EmittedName, ReadonlySet<string>>>> = {
  'error.occurred': new Set(['session_id', 'turn_id', 'hook_id', 'name']),
  'budget.warned': new Set(['name']),
  'budget.reached': new Set(['name']),
};

/** The body of a delivery for each event: what receivers generate types from. Within version 1 only additions. */
function deliverySchemas(): ReadonlyMap<EventName, Readonly<Record<string, unknown>>> {
  const names = Object.keys(PAYLOADS) as EmittedName[];
  const schemas = names.map((name) => [name, deliverySchema(name, name)] as const);
  const completed = deliverySchema('session.completed', 'session.terminated');
  return new Map<EventName, Readonly<Record<string, unknown>>>([
    ...schemas,
    ['session.completed', completed],
  ]);
}

function deliverySchema(event: EventName, payload: EmittedName) {
  const properties = PAYLOADS[payload];
  const optional = OPTIONAL_IN[payload] ?? OPTIONAL;
  const required = Object.keys(properties).filter((field) => !optional.has(field));
  return {
    type: 'object',
    required: ['id', 'event', 'timestamp', 'sequence', 'data'],
    properties: {
      id: { type: 'string', description: 'The same on every attempt, and in the header `webhook-id`' },
      event: { type: 'string', enum: [event] },
      timestamp: { type: 'string', format: 'date-time' },
      sequence: {
        type: 'integer',
        minimum: 1,
        description: 'Counts the events of this webhook, without gaps',
      },
      data: { type: 'object', required, properties },
    },
  };
}
