import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { headerReferences } from '../../../http/response-headers.js';
import type { Table } from '../../../platform/settings/dotted-path.js';
import type { LiveSettings } from '../../../platform/settings/live-settings.js';

/** Describes the response of GET /config, whose keys are the settings themselves, in the API document. */
export const AnswersConfig = (): MethodDecorator =>
  applyDecorators(
    ApiResponse({
      status: 200,
      description: 'The configuration in force; secrets read as the redaction marker',
      headers: headerReferences(['ETag']),
      schema: { type: 'object', additionalProperties: { type: 'object', additionalProperties: true } },
    }),
  );

/** The tree and its tag are of the same snapshot. */
export function showConfig({ snapshot }: LiveSettings, response: Response): Table {
  response.setHeader('ETag', snapshot.etag);
  return snapshot.shown;
}
