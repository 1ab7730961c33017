import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERROR_ENVELOPE } from '../../../http/openapi/event-stream.schema.js';

/** A gateway that is not ready still sends a probe its body; the error envelope only when the rate limiter does not answer either. */
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
