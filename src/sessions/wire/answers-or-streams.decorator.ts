import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';

export const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  required: false,
  description:
    'With Accept: text/event-stream, the id of the last event that was seen; events go on after it',
} as const;

export const PREFER = {
  name: 'Prefer',
  required: false,
  description: 'respond-async: answer 202 as soon as the message is stored, also while the session is busy',
} as const;

/** One JSON answer or, with `Accept: text/event-stream`, events. */
export const AnswersOrStreams = (description: string, type: Type) =>
  applyDecorators(
    ApiExtraModels(type),
    ApiResponse({
      status: 200,
      description: `${description}; with Accept: text/event-stream, events`,
      content: {
        'application/json': { schema: { $ref: getSchemaPath(type) } },
        'text/event-stream': { schema: { type: 'string' } },
      },
    }),
  );
