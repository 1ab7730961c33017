import { columnsOf } from '../../../platform/database/entity-columns.js';
import type { SqlRunner } from '../../../platform/database/sql.js';
import { double, integer, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { TokenStorageEntity } from './token-limits.entities.js';
import type { TurnAllowance } from './turn-allowance.js';
import { TurnLimitReached } from './turn-limit-reached.js';

/** Attachments are deleted with their messages, when a session is erased or its retention ends. */
const STORAGE_RETRY_SECS = 3600;

/** Only one transaction at a time counts what one token uses of a share: otherwise two could take the last of it. */
const LOCK = statement({
  name: 'shares.lock',
  params: { share: text, token: text },
  row: {},
  sql: `SELECT pg_advisory_xact_lock(hashtextextended(:share::text || ' of ' || :token::text, 0))`,
});
const WAITING = statement({
  name: 'shares.waiting',
  params: { token: text },
  row: { waiting: integer },
  sql: `SELECT count(*)::int AS waiting FROM turns WHERE status = 'waiting' AND token_id = :token AND wait_until > now()`,
});
const STORED = statement({
  name: 'shares.stored',
  params: columnsOf(TokenStorageEntity, 'tokenFamily'),
  row: { bytes: double },
  sql: `SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM token_storage WHERE token_family = :token_family`,
});

/**
 * Throws `TurnLimitReached` when the API token already has as many waiting messages as it may; runs in the transaction
 * that adds one.
 */
export async function refuseTooManyWaiting(
  runner: SqlRunner,
  { tokenId, waitingMessages: most }: TurnAllowance,
): Promise<void> {
  if (most === 0) return;
  await runner.query(LOCK, { share: 'waiting messages', token: tokenId });
  const [row] = await runner.query(WAITING, { token: tokenId });
  if ((row?.waiting ?? 0) < most) return;
  throw new TurnLimitReached(
    'api_token_waiting',
    `This API token has ${most} messages waiting, and no more may wait (limits.waiting_messages_per_api_token). Send the message again when one has been answered.`,
    1,
  );
}

/**
 * Waits until nobody else counts what the API token stores: before `refuseTooManyBytes`, and before the transaction takes a
 * session, which must not be held while it waits.
 */
export async function lockBytes(
  runner: SqlRunner,
  { family, storedBytes: most }: TurnAllowance,
  bytes: number,
): Promise<void> {
  if (most > 0 && bytes > 0) await runner.query(LOCK, { share: 'stored bytes', token: family });
}

/**
 * Throws `TurnLimitReached` when the API token may not store this many more bytes of attachments; runs in the
 * transaction that stores them, after `lockBytes`.
 */
export async function refuseTooManyBytes(
  runner: SqlRunner,
  { family, storedBytes: most }: TurnAllowance,
  bytes: number,
): Promise<void> {
  if (most === 0 || bytes === 0) return;
  const [row] = await runner.query(STORED, { token_family: family });
  const stored = row?.bytes ?? 0;
  if (stored + bytes <= most) return;
  throw new TurnLimitReached(
    'api_token_stored_bytes',
    `This API token has ${stored} bytes of attachments stored and may have ${most} (limits.stored_bytes_per_api_token), so ${bytes} more are not taken. They go with their sessions.`,
    STORAGE_RETRY_SECS,
  );
}
