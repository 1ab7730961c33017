import {
  addUsage,
  type ModelToolCall,
  type ModelToolResult,
  type ModelUsage,
} from '../../models/models.api.js';
import type { CallTask, ToolCallRecord } from '../../tools/tools.api.js';
import type { ModelSpending } from '../../usage/usage.api.js';
import { divided } from '../callers/caller-tools.js';
import type { MessageOptions } from '../message-options.js';
import { askedMessage } from '../prompt/conversation.js';
import type { TurnListener } from '../turn.js';
import type { OwnRound, ShownResults } from './own-rounds.js';
import { type AnsweredStep, type AskedStep, shownBy, type TurnStep } from './turn-steps.store.js';

/** What the model is told about a call that ran when its replica died. */
export const OUTCOME_UNKNOWN =
  'Outcome unknown: the gateway was interrupted while this call ran. It may have taken effect or not, and it was not made again. ' +
  'Find out before you repeat it.';

/** One round of model and tools that was stored. */
interface DoneRound {
  readonly asked: AskedStep;
  readonly answers: readonly AnsweredStep[];
  /** Calls whose results were not stored. */
  readonly open: readonly OpenCall[];
}

/** A call of a round. */
export interface RoundCall {
  readonly call: ModelToolCall;
  /** Whether it may wait for a person, so that a step is stored when it is made. */
  readonly isHeld: boolean;
}

/** A call without a stored result. */
export interface OpenCall extends RoundCall {
  /** Whether it may have been made, and so may have had its effect. */
  readonly mayBeSent: boolean;
  /** The task that runs it at its server, which is asked for the result; undefined for any other call. */
  readonly task?: CallTask;
}

/** What a turn had done before it was taken up. */
export interface DoneWork {
  readonly rounds: OwnRound[];
  /** How much of their results is shown. */
  readonly shown: ShownResults;
  readonly texts: string[];
  readonly records: ToolCallRecord[];
  readonly usage: ModelUsage;
  /** Calls that the caller has to make: the turn ends with them. */
  readonly open?: { readonly asked: AskedStep; readonly calls: readonly ModelToolCall[] };
}

/** For a turn that begins here. */
export function nothingDone(spent: ModelUsage): DoneWork {
  return { rounds: [], shown: {}, texts: [], records: [], usage: spent };
}

function doneRounds(steps: readonly TurnStep[]): DoneRound[] {
  const answers = steps.filter((step) => step.kind === 'answered');
  const asked = steps.filter((step) => step.kind === 'asked');
  const sent = steps.filter((step) => step.kind === 'sent');
  const isSent = new Set(sent.map(({ callId }) => callId));
  const tasks = new Map(sent.flatMap(({ callId, task }) => (task === undefined ? [] : [[callId, task]])));
  return asked.map((step) => {
    const ids = new Set(step.calls.map(({ id }) => id));
    const own = answers.filter(({ result }) => ids.has(result.callId));
    const answered = new Set(own.map(({ result }) => result.callId));
    const held = new Set(step.held ?? []);
    const open = step.calls
      .filter(({ id }) => !answered.has(id))
      .map((call) => ({ call, isHeld: held.has(call.id) }))
      .map((one) => ({ ...one, mayBeSent: !one.isHeld || isSent.has(one.call.id) }))
      .map((one) => withTask(one, tasks.get(one.call.id)));
    return { asked: step, answers: own, open };
  });
}

function withTask(call: OpenCall, task: CallTask | undefined): OpenCall {
  return task === undefined ? call : { ...call, task };
}

/**
 * Goes through the stored steps, shows them again, and lets `finish` answer the open calls.
 * @param start what was used before the first round, and which tools its caller runs
 */
export async function redone(
  steps: readonly TurnStep[],
  { spent, options }: { readonly spent: ModelUsage; readonly options: MessageOptions },
  emit: TurnListener,
  finish: (
    calls: readonly OpenCall[],
    records: readonly ToolCallRecord[],
  ) => Promise<readonly FinishedCall[]>,
): Promise<DoneWork> {
  const work = {
    rounds: [] as OwnRound[],
    shown: shownBy(steps),
    texts: [] as string[],
    records: [] as ToolCallRecord[],
  };
  const lost = steps.filter((step) => step.kind === 'spent').flatMap(({ spending }) => spending);
  let usage = lost.reduce((sum, one) => addUsage(sum, one.usage), spent);
  for (const one of lost) await showSpent(one, one.model, emit);
  for (const { asked, answers, open } of doneRounds(steps)) {
    usage = (asked.spending ?? []).reduce((sum, one) => addUsage(sum, one.usage), usage);
    await showAgain(asked, work.texts.length > 0, emit);
    if (asked.text !== '') work.texts.push(asked.text);
    const known = answers.map((answer) => ({ record: recordOf(asked, answer), result: answer.result }));
    for (const { record } of known) {
      await emit({ type: 'tool_call', id: record.id, name: record.name, arguments: record.arguments });
      await emit({ type: 'tool_result', record });
    }
    work.records.push(...known.map(({ record }) => record));
    const { own, callers } = divided(open, options);
    const finished = own.length === 0 ? [] : await finish(own, work.records);
    work.records.push(...finished.map(({ record }) => record));
    if (callers.length > 0) return { ...work, usage, open: { asked, calls: callers } };
    const results = new Map([...known, ...finished].map(({ result }) => [result.callId, result]));
    const inOrder = asked.calls.flatMap(({ id }) => results.get(id) ?? []);
    work.rounds.push({ asked: askedMessage(asked), results: inOrder });
  }
  return { ...work, usage };
}

/** What the model said in a round, and what that cost. */
async function showAgain(asked: AskedStep, isFurther: boolean, emit: TurnListener): Promise<void> {
  for (const one of asked.spending ?? []) await showSpent(one, asked.model, emit);
  if (asked.text !== '') await emit({ type: 'token', text: isFurther ? `\n\n${asked.text}` : asked.text });
}

async function showSpent(
  { provider, model, usage }: ModelSpending,
  shown: string,
  emit: TurnListener,
): Promise<void> {
  await emit({ type: 'usage', usage, model: shown, asked: { provider, model, answered: model } });
}

/** The sum of the stored steps of a turn. */
export interface StoredWork {
  readonly text: string;
  readonly records: readonly ToolCallRecord[];
  readonly usage: ModelUsage;
}

/** What is kept of a turn that ends before its steps are shown again. */
export function storedWork(
  steps: readonly TurnStep[],
  unanswered: (call: ModelToolCall) => ToolCallRecord,
): StoredWork {
  const rounds = doneRounds(steps);
  const spending = steps.flatMap((step) =>
    step.kind === 'asked' || step.kind === 'spent' ? (step.spending ?? []) : [],
  );
  const texts = rounds.map(({ asked }) => asked.text).filter((text) => text !== '');
  const records = rounds.flatMap(({ asked, answers, open }) => [
    ...answers.map((answer) => recordOf(asked, answer)),
    ...open.map(({ call }) => unanswered(call)),
  ]);
  const usage = spending.reduce<ModelUsage>((sum, one) => addUsage(sum, one.usage), { input: 0, output: 0 });
  return { text: texts.join('\n\n'), records, usage };
}

interface FinishedCall {
  readonly record: ToolCallRecord;
  readonly result: ModelToolResult;
}

function recordOf({ calls }: AskedStep, { result, record }: AnsweredStep): ToolCallRecord {
  const call = calls.find(({ id }) => id === result.callId);
  const { status = result.isError ? 'error' : 'success', durationMs = 0 } = record ?? {};
  return {
    id: result.callId,
    name: call?.name ?? '',
    arguments: call?.arguments ?? {},
    status,
    output: result.content,
    durationMs,
  };
}
