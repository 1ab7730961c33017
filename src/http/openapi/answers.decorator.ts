import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiResponse } from '@nestjs/swagger';
import type { ProfileId } from '../profiles/profile.js';
import { headerReferences, type ResponseHeader } from '../response-headers.js';

/** Extension that holds the statuses an operation refuses with, until the document is complete. */
export const REFUSES = 'x-refuses';

/** Extension that marks what the profile's contract does not have. Until the document is complete, it names the profile. */
export const EXTENSION = 'x-extension';

/** What an operation does, in the imperative ("Create a session"), and optional details. */
export const Does = (summary: string, description?: string) =>
  applyDecorators(ApiOperation({ summary, ...(description === undefined ? {} : { description }) }));

/** A response of an operation in the OpenAPI document. Refusals common to all operations are added when the document is made. */
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
 * Statuses that this operation may refuse with, besides those of every operation of its kind: 404 for a path with a
 * parameter, 409 for a POST or PATCH, 413 and 415 for a body.
 */
export const Refuses = (...statuses: readonly (401 | 409 | 502 | 504)[]) => ApiExtension(REFUSES, statuses);

/** The contract of this profile does not have the operation; the profile's document marks it. */
export const Extends = (profile: ProfileId) => ApiExtension(EXTENSION, profile);
