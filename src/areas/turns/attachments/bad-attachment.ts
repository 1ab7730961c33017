import { BadRequest } from '../../../common/errors/gateway-error.js';

/** What all attachments of a message may have together (docs/specification/silences.md, Messages). */
export const MAX_ATTACHED_BYTES = 20 * 1024 * 1024;
/** How many a message may have. */
export const MAX_ATTACHMENTS = 10;

/** An attachment that cannot be taken; the field is named. */
export class BadAttachment extends BadRequest {
  constructor(path: string, message: string) {
    super(`${path}: ${message}`, { details: { fields: [{ path, message }] } });
  }
}
