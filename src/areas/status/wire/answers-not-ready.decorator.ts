import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERROR_ENVELOPE } from '../../../http/openapi/event-stream.schema.js';

/** A probe of a gateway that is not ready gets its body all the same; the envelope when not even the rate limit can be asked. */
export const AnswersNotReady = (type: Type) =>
  applyDecorators(
    ApiExtraModels(type),
    ApiResponse({
      status: 503,
      description: 'The gateway is not ready: it starts, stops, or its database does not answer',
      content: {
        'application/json': {
          schema: { anyOf: [{ $ref: getSchemaPath(type) }, { $ref: ERROR_ENVELOPE }] },
        },
      },
    }),
  );
