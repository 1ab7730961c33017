import type { SqlRunner } from '../../../platform/database/sql.js';
import { arrayOf, integer, json, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { storableText } from '../../../platform/database/storable-text.js';

/** What a tool returned that the caller runs. */
export interface CallerOutput {
  readonly callId: string;
  readonly content: string;
}

/**
 * Stored with the turn that called the tool. An existing output is not replaced: what a model has read does not change.
 */
const ADD = statement({
  name: 'turn_steps.add_outputs',
  params: { turn: text, outputs: json<unknown[]>() },
  row: {},
  sql: `
    INSERT INTO turn_steps (turn_id, number, kind, content)
    SELECT :turn, row_number() OVER (ORDER BY given.n) + (SELECT coalesce(max(number), 0) FROM turn_steps WHERE turn_id = :turn),
      'answered', json_build_object(
        'result', json_build_object('callId', given.id, 'content', given.content, 'isError', false),
        'record', json_build_object('status', 'success', 'durationMs', 0))
    FROM json_to_recordset(:outputs) AS given (n int, id text, content text)
    WHERE NOT EXISTS (
      SELECT 1 FROM turn_steps AS known
      WHERE known.turn_id = :turn AND known.kind = 'answered' AND known.content #>> '{result,callId}' = given.id)`,
});
/** The same in the history, which shows an output only up to this many characters. */
const SHOW = statement({
  name: 'messages.show_outputs',
  params: { turn: text, outputs: json<unknown[]>(), session: text, shown: integer },
  row: {},
  sql: `
    UPDATE messages SET tool_calls = (
      SELECT json_agg(CASE WHEN given.id IS NULL OR each.call ->> 'status' <> 'pending' THEN each.call
        ELSE (each.call::jsonb || jsonb_build_object('status', 'success', 'output', left(given.content, :shown)))::json END ORDER BY each.n)
      FROM json_array_elements(tool_calls) WITH ORDINALITY AS each (call, n)
        LEFT JOIN json_to_recordset(:outputs) AS given (id text, content text) ON given.id = each.call ->> 'id')
    WHERE session_id = :session AND turn_id = :turn AND role = 'assistant' AND json_array_length(tool_calls) > 0`,
});
/** How much of an output the history shows; the model reads all of it. */
const MAX_SHOWN = 16_384;

const TAKE_BACK = statement({
  name: 'turn_steps.take_back_outputs',
  params: { turn: text, calls: arrayOf(text) },
  row: {},
  sql: `DELETE FROM turn_steps WHERE turn_id = :turn AND kind = 'answered' AND content #>> '{result,callId}' = ANY (:calls)`,
});
/** The same in the history. */
const OPEN_AGAIN = statement({
  name: 'messages.open_calls_again',
  params: { turn: text, calls: arrayOf(text), session: text },
  row: {},
  sql: `
    UPDATE messages SET tool_calls = (
      SELECT json_agg(CASE WHEN each.call ->> 'id' = ANY (:calls)
        THEN (each.call::jsonb || jsonb_build_object('status', 'pending', 'output', ''))::json ELSE each.call END ORDER BY each.n)
      FROM json_array_elements(tool_calls) WITH ORDINALITY AS each (call, n))
    WHERE session_id = :session AND turn_id = :turn AND role = 'assistant' AND json_array_length(tool_calls) > 0`,
});

/**
 * Stores what the caller's tools returned with the turn that called them; to be committed with the turn that continues.
 */
export async function storeOutputs(
  runner: SqlRunner,
  asked: { readonly sessionId: string; readonly turnId: string },
  outputs: readonly CallerOutput[],
): Promise<void> {
  if (outputs.length === 0) return;
  const given = JSON.stringify(
    outputs.map(({ callId, content }, n) => ({ n, id: callId, content: storableText(content) })),
  );
  await runner.query(ADD, { turn: asked.turnId, outputs: given });
  await runner.query(SHOW, {
    turn: asked.turnId,
    outputs: given,
    session: asked.sessionId,
    shown: MAX_SHOWN,
  });
}

/**
 * Reopens the calls, because the turn that was to continue with their outputs did not begin. The session's row is
 * locked meanwhile.
 */
export async function takeBackOutputs(
  runner: SqlRunner,
  asked: { readonly sessionId: string; readonly turnId: string },
  callIds: readonly string[],
): Promise<void> {
  await runner.query(TAKE_BACK, { turn: asked.turnId, calls: callIds });
  await runner.query(OPEN_AGAIN, { turn: asked.turnId, calls: callIds, session: asked.sessionId });
}
