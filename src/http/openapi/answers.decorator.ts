import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { headerReferences, type ResponseHeader } from '../response-headers.js';

/** Where an operation keeps the statuses that it refuses with, until the document is complete. */
export const REFUSES = 'x-refuses';

/** What an operation does, in the imperative ("Create a session"), and what is worth knowing about it. */
export const Does = (summary: string, description?: string) =>
  applyDecorators(ApiOperation({ summary, ...(description === undefined ? {} : { description }) }));

/** An answer of an operation in the OpenAPI document; what every operation may refuse with is added there. */
export const Answers = (
  status: 200 | 201 | 202 | 204,
  description: string,
  type?: Type,
  headers: readonly ResponseHeader[] = [],
) =>
  applyDecorators(
    ApiResponse({
      status,
      description,
      headers: headerReferences(headers),
      ...(type === undefined ? {} : { type }),
    }),
  );

/**
 * What this operation may refuse with beside what every operation of its kind does: 404 for a path with a parameter, 409
 * for a POST or PATCH, 413 and 415 for a body.
 */
export const Refuses = (...statuses: readonly (409 | 502 | 504)[]) => ApiExtension(REFUSES, statuses);
