import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { GatewayRequest } from '../../../http/gateway-request.js';

/** Judges an entity tag by If-Match (RFC 9110, 13.1.1). Without the header every tag will do. */
export type TagMatcher = (etag: string) => boolean;

export function tagMatcher(header: string | undefined): TagMatcher {
  if (header === undefined || header.trim() === '*') return () => true;
  const tags = header.split(',').map((tag) => tag.trim());
  return (etag) => tags.includes(etag);
}

/** What the request's If-Match says of a tag. */
export const IfMatch = createParamDecorator((_data: unknown, context: ExecutionContext): TagMatcher => {
  return tagMatcher(context.switchToHttp().getRequest<GatewayRequest>().headers['if-match']);
});
