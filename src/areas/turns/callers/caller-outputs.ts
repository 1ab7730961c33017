import type { SqlRunner, Statement } from '../../../platform/database/sql.js';
import { storableText } from '../../../platform/database/storable-text.js';

/** What a tool that the caller runs returned. */
export interface CallerOutput {
  readonly callId: string;
  readonly content: string;
}

/** `$1` the turn that asked, `$2` the outputs. One that is there already stays: what a model has read does not change. */
const ADD: Statement = {
  name: 'turn_steps.add_outputs',
  text: `
    INSERT INTO turn_steps (turn_id, number, kind, content)
    SELECT $1, row_number() OVER (ORDER BY given.n) + (SELECT coalesce(max(number), 0) FROM turn_steps WHERE turn_id = $1),
      'answered', json_build_object(
        'result', json_build_object('callId', given.id, 'content', given.content, 'isError', false),
        'record', json_build_object('status', 'success', 'durationMs', 0))
    FROM json_to_recordset($2) AS given (n int, id text, content text)
    WHERE NOT EXISTS (
      SELECT 1 FROM turn_steps AS known
      WHERE known.turn_id = $1 AND known.kind = 'answered' AND known.content #>> '{result,callId}' = given.id)`,
};
/** The same in the history: `$3` the session, `$4` the most characters of an output there. */
const SHOW: Statement = {
  name: 'messages.show_outputs',
  text: `
    UPDATE messages SET tool_calls = (
      SELECT json_agg(CASE WHEN given.id IS NULL OR each.call ->> 'status' <> 'pending' THEN each.call
        ELSE (each.call::jsonb || jsonb_build_object('status', 'success', 'output', left(given.content, $4)))::json END ORDER BY each.n)
      FROM json_array_elements(tool_calls) WITH ORDINALITY AS each (call, n)
        LEFT JOIN json_to_recordset($2) AS given (id text, content text) ON given.id = each.call ->> 'id')
    WHERE session_id = $3 AND turn_id = $1 AND role = 'assistant' AND json_array_length(tool_calls) > 0`,
};
/** Of an output in the history; the model reads all of it. */
const MAX_SHOWN = 16_384;

/** `$1` the turn that asked, `$2` the calls. */
const TAKE_BACK: Statement = {
  name: 'turn_steps.take_back_outputs',
  text: `DELETE FROM turn_steps WHERE turn_id = $1 AND kind = 'answered' AND content #>> '{result,callId}' = ANY ($2)`,
};
/** The same in the history: `$3` the session. */
const OPEN_AGAIN: Statement = {
  name: 'messages.open_calls_again',
  text: `
    UPDATE messages SET tool_calls = (
      SELECT json_agg(CASE WHEN each.call ->> 'id' = ANY ($2)
        THEN (each.call::jsonb || jsonb_build_object('status', 'pending', 'output', ''))::json ELSE each.call END ORDER BY each.n)
      FROM json_array_elements(tool_calls) WITH ORDINALITY AS each (call, n))
    WHERE session_id = $3 AND turn_id = $1 AND role = 'assistant' AND json_array_length(tool_calls) > 0`,
};

/** Stores what the caller's tools returned with the turn that asked for it; to be committed with the turn that goes on. */
export async function storeOutputs(
  runner: SqlRunner,
  asked: { readonly sessionId: string; readonly turnId: string },
  outputs: readonly CallerOutput[],
): Promise<void> {
  if (outputs.length === 0) return;
  const given = JSON.stringify(
    outputs.map(({ callId, content }, n) => ({ n, id: callId, content: storableText(content) })),
  );
  await runner.query(ADD, [asked.turnId, given]);
  await runner.query(SHOW, [asked.turnId, given, asked.sessionId, MAX_SHOWN]);
}

/** The calls are open again: the turn that was to go on with their outputs did not begin. The session's row is held meanwhile. */
export async function takeBackOutputs(
  runner: SqlRunner,
  asked: { readonly sessionId: string; readonly turnId: string },
  callIds: readonly string[],
): Promise<void> {
  await runner.query(TAKE_BACK, [asked.turnId, callIds]);
  await runner.query(OPEN_AGAIN, [asked.turnId, callIds, asked.sessionId]);
}
