import { HttpException } from '@nestjs/common';

/** The body of one of Nest's exceptions, for libraries that respond by throwing; undefined for anything else. */
export function httpExceptionBody(error: unknown): object | undefined {
  if (!(error instanceof HttpException)) return undefined;
  const body = error.getResponse();
  return typeof body === 'string' ? { message: body } : body;
}
