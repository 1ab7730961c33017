import { OUTCOME_UNKNOWN } from '../../../../src/areas/turns/rounds/done-steps.js';
import { until } from '../../../harness/gateway-process.js';
import type { TurnFleet } from './turn-fleet.js';
import { answerTo, planOf } from './turn-plan.js';
import type { TurnTalk } from './turn-talk.js';

/** When no more faults happen, one more turn must end within this time. */
const STILL_MS = 60_000;

interface TurnRow {
  readonly session: string;
  readonly id: string;
  readonly said: string;
  readonly status: string;
  readonly reason: string | null;
  readonly take_ups: number;
  readonly answers: string[];
  /** Seconds since the end of the turn before it in its session; negative when they overlap. */
  readonly gap: number | null;
  /** The results of its calls that the model was told. */
  readonly told: string[];
}

type LeftTurn = Readonly<Record<string, unknown>>;

const LEFT_TURNS = `SELECT turns.*, now() AS now, sessions.turn_fence, sessions.turn_owner, sessions.turn_lease_until,
    sessions.awaits_message_id, (SELECT count(*) FROM turn_steps WHERE turn_id = turns.id) AS steps,
    (SELECT json_agg(json_build_object('status', other.status, 'arrival', other.arrival, 'id', other.id))
      FROM turns AS other WHERE other.session_id = sessions.id) AS of_session
  FROM turns JOIN sessions ON sessions.id = turns.session_id
  WHERE turns.status NOT IN ('completed', 'failed', 'interrupted', 'cancelled')`;

export interface TurnVerdict {
  readonly violations: readonly string[];
  readonly figures: Readonly<Record<string, unknown>>;
}

/** Compares what callers were promised with what the database, the tool server and the model recorded. */
export async function judgeTurns(fleet: TurnFleet, talk: TurnTalk, seed: number): Promise<TurnVerdict> {
  const left = await untilNothingRuns(fleet);
  const turns = await turnRows(fleet);
  const said = new Set(turns.map((turn) => `${turn.session} ${turn.said}`));
  const violations = [
    ...talk.refused.map((refusal) => `refused for good: ${refusal}`),
    ...talk.accepted
      .filter(({ session, content }) => !said.has(`${session} ${content}`))
      .map(({ content }) => `${content} was accepted and has no turn`),
    ...turns.flatMap((turn) => wrongWith(turn)),
    ...orderViolations(turns, talk),
    ...calledTwice(fleet),
    ...turns.flatMap((turn) => notCalled(turn, fleet, seed)),
  ];
  const unknown = turns.reduce(
    (sum, { told }) => sum + told.filter((text) => text === OUTCOME_UNKNOWN).length,
    0,
  );
  const again = [...fleet.ledger.calls].filter(([key, times]) => times > 1 && !key.endsWith(NOTE)).length;
  return {
    violations,
    figures: {
      accepted: talk.accepted.length,
      without_end_when_calm: left,
      answered_exactly_once: turns.filter((turn) => wrongWith(turn).length === 0).length,
      turns: counted(
        turns.map(({ status, reason }) => (status === 'completed' ? status : `${status}: ${reason}`)),
      ),
      taken_up: turns.filter(({ take_ups }) => take_ups > 0).length,
      take_ups: turns.reduce((sum, { take_ups }) => sum + take_ups, 0),
      tool_calls: [...fleet.ledger.calls.values()].reduce((sum, times) => sum + times, 0),
      called_twice: calledTwice(fleet).length,
      repeatable_called_again: again,
      outcome_unknown: unknown,
      tools_not_there_yet: turns.flatMap(({ told }) => told).filter(isAway).length,
      model_asked_again_for_answers: [...fleet.model.answers.values()].filter((times) => times > 1).length,
    },
  };
}

/**
 * Waits for the end of every turn, as long as turns keep ending: callers that do not wait send more than a session
 * can answer meanwhile. Returns how many had no end at first; throws with details about those that never end.
 */
async function untilNothingRuns(fleet: TurnFleet): Promise<number> {
  let first: number | undefined;
  let before = Number.POSITIVE_INFINITY;
  while (before > 0) {
    let left: readonly LeftTurn[] | undefined;
    try {
      await until(async () => {
        left = await fleet.query<LeftTurn>(LEFT_TURNS).catch(() => undefined);
        return left !== undefined && left.length < before;
      }, STILL_MS);
    } catch {
      throw new Error(`None of these turns ended within ${STILL_MS / 1000} s: ${JSON.stringify(left)}`);
    }
    before = left?.length ?? 0;
    first ??= before;
  }
  return first ?? 0;
}

function turnRows(fleet: TurnFleet): Promise<TurnRow[]> {
  return fleet.query<TurnRow>(
    `SELECT turns.session_id AS session, turns.id, said.content AS said, turns.status, turns.reason, take_ups,
       ARRAY(SELECT content FROM messages WHERE turn_id = turns.id AND role = 'assistant') AS answers,
       extract(epoch FROM started_at - lag(ended_at) OVER (PARTITION BY turns.session_id ORDER BY arrival))::float8 AS gap,
       ARRAY(SELECT content->'result'->>'content' FROM turn_steps WHERE turn_id = turns.id AND kind = 'answered') AS told
     FROM turns JOIN messages AS said ON said.id = user_message_id ORDER BY turns.session_id, said.seq`,
  );
}

function wrongWith({ id, said, status, reason, answers, gap }: TurnRow): string[] {
  const what = `${said} (${id})`;
  return [
    ...(status === 'completed' ? [] : [`${what} ended as ${status}: ${reason}`]),
    ...(answers.length === 1 && answers[0] === answerTo(said)
      ? []
      : [`${what} was answered ${JSON.stringify(answers)}`]),
    ...(gap === null || gap >= 0 ? [] : [`${what} began ${-gap} s before the end of the turn before it`]),
  ];
}

/**
 * Each message is stored once, and the messages of a caller in a session are in the order in which they were sent.
 */
function orderViolations(turns: readonly TurnRow[], talk: TurnTalk): string[] {
  const twice =
    [...new Set(turns.map(({ said }) => said))].length === turns.length ? [] : ['a message is there twice'];
  const saidIn = new Map<string, string[]>();
  for (const { session, said } of turns) {
    const line = `${session} ${said.split('-says-')[0]}`;
    saidIn.set(line, [...(saidIn.get(line) ?? []), said]);
  }
  const known = new Map<string, string[]>();
  for (const { session, caller, content } of talk.accepted) {
    const line = `${session} caller-${caller}`;
    known.set(line, [...(known.get(line) ?? []), content]);
  }
  const wrong = [...known].filter(([line, sent]) => String(saidIn.get(line)) !== String(sent));
  return [
    ...twice,
    ...wrong.map(
      ([line, sent]) => `${line} said ${sent.join()}; the history has ${saidIn.get(line)?.join()}`,
    ),
  ];
}

const NOTE = ' note';

function calledTwice(fleet: TurnFleet): string[] {
  return [...fleet.ledger.calls]
    .filter(([key, times]) => times > 1 && key.endsWith(NOTE))
    .map(([key, times]) => `${key} was called ${times} times`);
}

/**
 * A call that never reached its tool: the model must have been told that the outcome is unknown, or that there is no
 * such tool.
 */
function notCalled({ said, told }: TurnRow, fleet: TurnFleet, seed: number): string[] {
  const keys = planOf(seed, said)
    .rounds.flat()
    .map(({ key }) => key);
  const missing = keys.filter((key) => !fleet.ledger.calls.has(key));
  const unknown = told.filter((text) => text === OUTCOME_UNKNOWN || isAway(text)).length;
  return missing.length <= unknown
    ? []
    : [`${said}: ${missing.join()} were not called, and the model was told ${told.join()}`];
}

/** A replica that has just started continues turns after 5 s, even when its tool servers are not connected yet. */
function isAway(told: string): boolean {
  return told.startsWith('There is no tool "ledger__');
}

function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
