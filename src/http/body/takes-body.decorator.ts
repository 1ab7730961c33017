import { SetMetadata } from '@nestjs/common';

/** Which limit of `[gateway]` bounds the body. */
export type BodyLimit = 'max_body_bytes' | 'max_message_body_bytes';

export const BODY_LIMIT = 'gateway:body-limit';

/** Marks a route that reads a JSON object; no other route reads a body. */
export const TakesJsonBody = (limit: BodyLimit = 'max_body_bytes') => SetMetadata(BODY_LIMIT, limit);
