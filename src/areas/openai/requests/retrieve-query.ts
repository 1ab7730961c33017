import { z } from 'zod';
import { checkedBody } from './checked-body.js';

const flag = z.enum(['true', 'false'], 'must be true or false');

const retrieveQuery = z.strictObject({
  stream: flag.optional(),
  starting_after: z
    .string()
    .regex(/^\d{1,12}$/, 'must be the sequence_number of an event')
    .optional(),
  include_obfuscation: z.literal('false', 'is not supported here; leave it out').optional(),
});

/** What GET /v1/responses/:id asks for. */
export interface RetrieveQuery {
  readonly isStream: boolean;
  /** The number of the last event that was seen; -1 for none. */
  readonly after: number;
}

/** Throws `InvalidParameter` and `UnsupportedParameter`. */
export function readRetrieveQuery(sent: unknown): RetrieveQuery {
  const { stream, starting_after: after } = checkedBody(retrieveQuery, sent);
  return { isStream: stream === 'true', after: after === undefined ? -1 : Number(after) };
}
