import { applyDecorators, type Type } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';

/** The good answer of an operation in the OpenAPI document; the errors are the same everywhere and added there. */
export const Answers = (status: 200 | 201 | 202 | 204, description: string, type?: Type) =>
  applyDecorators(ApiResponse({ status, description, ...(type === undefined ? {} : { type }) }));
