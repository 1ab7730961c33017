import {
  camelCase,
  type DescribedChannel,
  message,
  operation,
  schemaReference,
  stream,
} from '../../../http/openapi/asyncapi.js';
import { publicName } from '../../../http/openapi/schemas.js';
import { TURN_EVENTS } from './turn-events.views.js';

type Json = Readonly<Record<string, unknown>>;
interface Schema extends Json {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Json;
}

const EMPTY: Schema = { type: 'object', additionalProperties: false };
const EVENT_ID = { type: 'string', description: 'For `last_event_id` of the next connection' };
const NAME = 'sessionSocket';
const ABOUT = {
  address: '/ws/sessions/{id}',
  title: 'The WebSocket of a session',
  description:
    'Shows the running turn from its beginning and then every later one. The token comes in `Authorization: Bearer`, or as ' +
    'a protocol: `Sec-WebSocket-Protocol: gateway.v1, bearer.<token>`; never in the query. `last_event_id` in the query ' +
    'names the last event that was seen; events go on after it.',
  parameters: { id: { description: 'The id of the session' } },
  bindings: { ws: { query: { type: 'object', properties: { last_event_id: { type: 'string' } } } } },
};

/** The WebSocket of a session (docs/streaming.md): what each side sends, told apart by `type`. */
export function sessionSocket(schemas: Json): DescribedChannel {
  const typed = (type: string, schema: Schema): Schema =>
    framed(schema, schemas, { type: { const: type } }, ['type']);
  const fromClient = {
    message: message('A message for the agent', typed('message', schemaReference('SendMessageRequest'))),
    toolDecision: message(
      'A decision about a tool call that waits',
      typed('tool_approval', schemaReference('ToolApprovalRequest')),
    ),
    toolAnswer: message(
      'An answer to what a tool asks',
      typed('tool_answer', schemaReference('ToolAnswerRequest')),
    ),
    cancel: message('Ends the running answer', typed('cancel', EMPTY)),
    ping: message('Asks for a pong', typed('ping', EMPTY)),
  };
  const shown = Object.entries(TURN_EVENTS).map(([kind, type]) => {
    const schema = schemaReference(type === 'error' ? 'ErrorEnvelope' : publicName(type.name));
    const members = { type: { const: kind }, event_id: EVENT_ID };
    // An error about a frame, rather than about a turn, has no id.
    const required = kind === 'error' ? ['type'] : ['type', 'event_id'];
    const frame = message(`\`${kind}\` of a turn`, framed(schema, schemas, members, required));
    return [camelCase(kind), frame] as const;
  });
  const pong = message('Answers a ping', typed('pong', EMPTY));
  const fromGateway = { ...Object.fromEntries(shown), pong };
  return {
    channel: { ...ABOUT, messages: { ...fromClient, ...fromGateway } },
    operations: {
      takeFrame: operation('receive', NAME, Object.keys(fromClient), {
        summary: 'Take what a client sends',
        description:
          'Opening needs `sessions:read`; `message`, `cancel` and `tool_answer` need `sessions:write`, and `tool_approval` needs `approvals:write`.',
      }),
      showEvent: operation('send', NAME, Object.keys(fromGateway), { summary: 'Show what happens' }),
    },
  };
}

/** A frame: the members of a schema, `type`, and what every frame has. */
function framed(schema: Schema, schemas: Json, members: Json, required: readonly string[]): Schema {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.slice('#/components/schemas/'.length);
    return framed(schemas[name] as Schema, schemas, members, required);
  }
  if (schema.anyOf !== undefined) {
    return { anyOf: schema.anyOf.map((one) => framed(one, schemas, members, required)) };
  }
  return {
    ...schema,
    required: [...required, ...(schema.required ?? [])],
    properties: { ...members, ...schema.properties },
  };
}

/** The events of a session's turns, over Server-Sent Events. */
export function turnStream(): DescribedChannel {
  return stream('turnEvents', TURN_EVENTS, {
    address: '/api/v1/sessions/{id}/messages',
    title: 'The events of turns',
    description:
      'With `Accept: text/event-stream`: after POST the events of the turn of that message, after GET those of the running turn ' +
      'and of every later one. The kind is the `event`, the payload the `data`, and every event has an `id` for `Last-Event-ID`.',
    parameters: { id: { description: 'The id of the session' } },
  });
}
