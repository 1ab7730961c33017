import { HttpException } from '@nestjs/common';

/** What one of Nest's exceptions carries, for libraries that answer by throwing; undefined for anything else. */
export function httpExceptionBody(error: unknown): object | undefined {
  if (!(error instanceof HttpException)) return undefined;
  const body = error.getResponse();
  return typeof body === 'string' ? { message: body } : body;
}
