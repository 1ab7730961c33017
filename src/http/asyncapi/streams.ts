import { LOG_EVENTS_B } from '../../areas/logs/profile-b/log.views.js';
import { TURN_EVENTS } from '../../areas/sessions/wire/turn-events.views.js';
import { publicName } from '../openapi/schema-names.js';
import { camelCase, type DescribedChannel, message, operation, schemaReference } from './messages.js';

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

/** The log as it is written, over Server-Sent Events. Only Profile B has it. */
export function logStream(): DescribedChannel {
  return stream('logEvents', LOG_EVENTS_B, {
    address: '/api/v1/logs/stream',
    title: 'The log as it is written',
    description:
      'The kind is the `event`, the payload the `data`, and every event has an `id` for `Last-Event-ID`. ' +
      '`GET /api/v1/logs?stream=true` shows the same, after the lines that there are.',
  });
}

type Kinds = Readonly<Record<string, { readonly name: string } | 'error'>>;

function stream(name: string, kinds: Kinds, about: Readonly<Record<string, unknown>>): DescribedChannel {
  const messages = Object.fromEntries(
    Object.entries(kinds).map(([kind, type]) => {
      const schema = type === 'error' ? 'ErrorEnvelope' : publicName(type.name);
      return [camelCase(kind), message(`event: ${kind}`, schemaReference(schema))];
    }),
  );
  return {
    channel: { ...about, messages },
    operations: {
      [`send_${name}`]: operation('send', name, Object.keys(messages), { summary: String(about['title']) }),
    },
  };
}
