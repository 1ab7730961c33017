import { z } from 'zod';
import { checkedBody } from './checked-body.js';

const DEFAULT_LIMIT = 20;

const inputItemsQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, 'must be 1 to 100')
    .optional(),
  order: z.enum(['asc', 'desc']).optional(),
  after: z.string().min(1).max(128).optional(),
});

/** What GET /v1/responses/:id/input_items asks for. */
export interface InputItemsQuery {
  readonly limit: number;
  readonly isNewestFirst: boolean;
  /** The id of an item; the page begins after it. */
  readonly after: string | undefined;
}

/** Throws `InvalidParameter` and `UnsupportedParameter`. */
export function readInputItemsQuery(sent: unknown): InputItemsQuery {
  const { limit, order, after } = checkedBody(inputItemsQuery, sent);
  return {
    limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
    isNewestFirst: order !== 'asc',
    after,
  };
}

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
interface RetrieveQuery {
  readonly isStream: boolean;
  /** The number of the last event that was seen; -1 for none. */
  readonly after: number;
}

/** Throws `InvalidParameter` and `UnsupportedParameter`. */
export function readRetrieveQuery(sent: unknown): RetrieveQuery {
  const { stream, starting_after: after } = checkedBody(retrieveQuery, sent);
  return { isStream: stream === 'true', after: after === undefined ? -1 : Number(after) };
}
