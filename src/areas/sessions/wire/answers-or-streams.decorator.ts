import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { eventModels, eventStream } from '../../../http/openapi/event-stream.schema.js';
import { TURN_EVENTS } from './turn-events.views.js';

export const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  required: false,
  description:
    'With Accept: text/event-stream, the id of the last event that was seen; events go on after it',
} as const;

export const RESUMED_EVENT_ID = {
  name: 'Last-Event-ID',
  required: false,
  description:
    'With Accept: text/event-stream, when the same message is sent again because its stream was cut: the id of the last ' +
    'event that was seen. Its turn goes on after it, and no second one begins. 409 when the event is of another message',
} as const;

export const PREFER = {
  name: 'Prefer',
  required: false,
  description: 'respond-async: answer 202 as soon as the message is stored, also while the session is busy',
} as const;

const EXAMPLE =
  'retry: 1000\n\n' +
  'id: turn_01jd8v3q5ze0psx2w9t6m4k7ah.31.0\nevent: token\ndata: {"content":"The capital of France is Paris."}\n\n';

/** One JSON answer or, with `Accept: text/event-stream`, events. */
export const AnswersOrStreams = (description: string, type: Type) =>
  applyDecorators(
    ApiExtraModels(type, ...eventModels(TURN_EVENTS)),
    ApiResponse({
      status: 200,
      description: `${description}; with Accept: text/event-stream, events`,
      content: {
        'application/json': { schema: { $ref: getSchemaPath(type) } },
        ...eventStream('TurnEvents', TURN_EVENTS, EXAMPLE),
      },
    }),
  );
