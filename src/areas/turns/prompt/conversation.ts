import {
  type ContentPart,
  estimatedTokens,
  type ModelMessage,
  type ModelToolCall,
  type ModelToolResult,
  messageTokens,
  TOKENS_PER_MESSAGE,
} from '../../models/models.api.js';
import type { AttachmentInfo, HistoryMessage, NewUserMessage } from '../message.js';
import { RESULT_CUT, shownResult } from '../rounds/own-rounds.js';
import { type AskedStep, shownBy, type TurnStep } from '../rounds/turn-steps.store.js';
import type { ContextCut, ExchangeSize } from './context-cut.js';
import {
  attachmentPart,
  attachmentTokens,
  bytesOf,
  isMedia,
  leftOutMedia,
  leftOutNote,
  type SizedMedia,
} from './media-window.js';

/** Stands in place of a result that never came: its turn was cancelled, failed, or lost its replica. */
export const NO_RESULT =
  'No result: the turn ended before the tool answered. Whether the call had an effect is not known.';

/** A user message of the history with everything up to the next one. */
export interface Exchange extends ExchangeSize {
  readonly said: readonly HistoryMessage[];
}

type Steps = ReadonlyMap<string, readonly TurnStep[]>;

const NO_STEPS: readonly TurnStep[] = [];
const NO_CALLS: readonly ModelToolCall[] = [];
const NOTHING: ReadonlySet<string> = new Set();

/**
 * The history as exchanges, oldest first. Messages before the first user message belong to an exchange that is no
 * longer sent. `cut` is in force: what it leaves out costs nothing.
 */
export function exchangesOf(history: readonly HistoryMessage[], steps: Steps, cut: ContextCut): Exchange[] {
  const exchanges: HistoryMessage[][] = [];
  for (const said of history) {
    const isQuestion = said.role === 'user' && !(saysNothing(said) && exchanges.length > 0);
    if (isQuestion) exchanges.push([said]);
    else exchanges.at(-1)?.push(said);
  }
  return exchanges.map((said) => sized(said, steps, cut));
}

/** A message that only brought outputs of tools: what follows it belongs to the exchange that called them. */
function saysNothing({ content, attachments }: Pick<HistoryMessage, 'content' | 'attachments'>): boolean {
  return content.trim() === '' && attachments.length === 0;
}

/** The exchanges as a model reads them, with tool calls and their results where they happened. */
export function modelMessages(
  exchanges: readonly Pick<Exchange, 'said'>[],
  {
    steps,
    bytes,
    cut,
    leftOut = NOTHING,
  }: { steps: Steps; bytes: ReadonlyMap<string, Buffer>; cut: ContextCut; leftOut?: ReadonlySet<string> },
): ModelMessage[] {
  const messages: ModelMessage[] = [];
  for (const { said } of exchanges) {
    for (const one of said) {
      if (one.role === 'assistant') {
        const answer = answerOf(one, steps.get(one.id) ?? NO_STEPS, one.seq <= cut.results);
        messages.push(...(leftOut.size === 0 ? answer : answer.map((message) => noted(message, leftOut))));
      } else if (!saysNothing(one)) messages.push(userMessage(one, bytes, leftOut));
    }
  }
  return messages;
}

/**
 * Which pictures and files of these exchanges are left out, so that the rest has at most so many bytes: ids of
 * attachments, and `resultKey`s. Decided before their bytes are read.
 */
export function mediaLeftOut(
  exchanges: readonly Exchange[],
  { steps, cut }: { steps: Steps; cut: ContextCut },
  maxBytes: number,
): ReadonlySet<string> {
  const brought: SizedMedia<string>[][] = [];
  for (const { said } of exchanges) {
    for (const one of said) {
      const own = steps.get(one.id);
      if (one.attachments.length > 0)
        brought.push(one.attachments.map(({ id, sizeBytes }) => ({ key: id, bytes: sizeBytes })));
      else if (own?.some(bringsMedia))
        brought.push(...answerOf(one, own, one.seq <= cut.results).map(resultMedia));
    }
  }
  return brought.length === 0 ? NOTHING : leftOutMedia(brought, maxBytes);
}

function bringsMedia(step: TurnStep): boolean {
  return step.kind === 'answered' && step.result.parts !== undefined;
}

function resultMedia(message: ModelMessage): SizedMedia<string>[] {
  if (message.role !== 'tool') return [];
  return message.results.flatMap(({ callId, parts = [] }) =>
    parts.flatMap((part, index) =>
      isMedia(part) ? [{ key: resultKey(callId, index), bytes: bytesOf(part) }] : [],
    ),
  );
}

/** A part of a tool's result. */
function resultKey(callId: string, index: number): string {
  return `${callId}/${index}`;
}

/** The results with a note in place of each picture and file that is left out. */
function noted(message: ModelMessage, leftOut: ReadonlySet<string>): ModelMessage {
  if (message.role !== 'tool') return message;
  const results = message.results.map((result) => {
    const { callId, parts } = result;
    if (parts === undefined) return result;
    const shown = parts.map((part, index) =>
      isMedia(part) && leftOut.has(resultKey(callId, index)) ? leftOutNote(part) : part,
    );
    return { ...result, parts: shown };
  });
  return { ...message, results };
}

/** What a user says, with notes for attachments that are left out, and nothing for those that no longer exist. */
export function userMessage(
  { content, attachments }: Pick<NewUserMessage, 'content'> & { attachments: readonly AttachmentInfo[] },
  bytes: ReadonlyMap<string, Buffer>,
  leftOut: ReadonlySet<string> = NOTHING,
): ModelMessage & { role: 'user' } {
  const said: ContentPart = { type: 'text', text: content };
  if (attachments.length === 0) return { role: 'user', parts: content.trim() === '' ? [] : [said] };
  const attached = attachments.flatMap((info): ContentPart[] => {
    if (leftOut.has(info.id)) return [leftOutNote(attachmentPart(info, ''))];
    const data = bytes.get(info.id);
    return data === undefined ? [] : [attachmentPart(info, data.toString('base64'))];
  });
  return { role: 'user', parts: content.trim() === '' ? attached : [...attached, said] };
}

/** Puts a note before everything else that the user says. */
export function withNote(messages: readonly ModelMessage[], note: string): readonly ModelMessage[] {
  if (note === '') return messages;
  const [first, ...rest] = messages;
  if (first?.role !== 'user') return messages;
  return [{ role: 'user', parts: [{ type: 'text', text: note }, ...first.parts] }, ...rest];
}

/** Estimated tokens of a user message, known before the bytes of its attachments are read. */
export function userTokens({
  content,
  attachments,
}: Pick<NewUserMessage, 'content'> & { attachments: readonly AttachmentInfo[] }): number {
  const attached = attachments.reduce((sum, one) => sum + attachmentTokens(one), 0);
  return TOKENS_PER_MESSAGE + attached + estimatedTokens(content);
}

function sized(said: readonly HistoryMessage[], steps: Steps, cut: ContextCut): Exchange {
  let tokens = 0;
  let resultTokens = 0;
  for (const one of said) {
    if (one.role === 'user') {
      tokens += userTokens(one);
      continue;
    }
    const taken = steps.get(one.id);
    if (taken === undefined) {
      tokens += textTokens(asSaid(one, one.content));
      continue;
    }
    const isCut = one.seq <= cut.results;
    for (const message of answerOf(one, taken, isCut)) {
      tokens += messageTokens(message);
      if (message.role === 'tool' && !isCut) resultTokens += cutSaves(message.results);
    }
  }
  const through = said.at(-1)?.seq ?? 0;
  return { said, through, messages: said.length, tokens, resultTokens };
}

/** The same as `messageTokens` of `finalText`. */
function textTokens(text: string): number {
  return text.trim() === '' ? 0 : TOKENS_PER_MESSAGE + estimatedTokens(text);
}

function cutSaves(results: readonly ModelToolResult[]): number {
  const whole = messageTokens({ role: 'tool', results });
  return Math.max(
    0,
    whole - messageTokens({ role: 'tool', results: results.map(({ callId }) => cutResult(callId)) }),
  );
}

function cutResult(callId: string): ModelToolResult {
  return { callId, content: RESULT_CUT, isError: false };
}

/** The rounds of an answer that used tools, then its text: the same bytes that its own turn sent. */
function answerOf(answer: HistoryMessage, steps: readonly TurnStep[], isCut: boolean): ModelMessage[] {
  if (steps.length === 0) return finalText(answer, answer.content);
  const results = new Map(
    steps.flatMap((step) => (step.kind === 'answered' ? [[step.result.callId, step.result] as const] : [])),
  );
  const shown = shownBy(steps);
  const asked = steps.filter((step) => step.kind === 'asked');
  const rounds = asked.flatMap((step): ModelMessage[] => [
    askedMessage(step),
    {
      role: 'tool',
      results: step.calls.map(({ id }) =>
        isCut ? cutResult(id) : shownResult(results.get(id) ?? missingResult(id), shown),
      ),
    },
  ]);
  return [...rounds, ...finalText(answer, lastText(answer.content, asked))];
}

/** The rounds of an answer that its caller brought along. It has no steps: its tool calls make one round. */
export function stepsOfRecords({
  content,
  toolCalls,
}: Pick<HistoryMessage, 'content' | 'toolCalls'>): TurnStep[] {
  const calls = toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }));
  const answered = toolCalls
    .filter(({ status }) => status !== 'pending')
    .map(({ id, output, status }): TurnStep => {
      return { kind: 'answered', result: { callId: id, content: output, isError: status !== 'success' } };
    });
  return [{ kind: 'asked', text: content, calls, model: '' }, ...answered];
}

/** The last text as it is sent; nothing when it is blank. */
function finalText(answer: HistoryMessage, said: string): ModelMessage[] {
  const text = asSaid(answer, said);
  return text.trim() === '' ? [] : [{ role: 'assistant', text, toolCalls: NO_CALLS }];
}

/** What the model said in a round in which it called tools, as it is sent back. */
export function askedMessage({
  text,
  calls,
  providerState,
}: Omit<AskedStep, 'kind' | 'model'>): ModelMessage {
  return {
    role: 'assistant',
    text,
    toolCalls: calls,
    ...(providerState === undefined ? {} : { providerState }),
  };
}

function missingResult(callId: string): ModelToolResult {
  return { callId, content: NO_RESULT, isError: true };
}

/**
 * An answer is stored as the texts of all its rounds, with a blank line between them. Returns the text after those of
 * the steps.
 */
function lastText(content: string, asked: readonly AskedStep[]): string {
  const before = asked
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n');
  if (before === '' || !content.startsWith(before)) return content;
  const rest = content.slice(before.length);
  return rest.startsWith('\n\n') ? rest.slice(2) : rest;
}

/** A model that is not told that its answer was cut off takes the fragment for what it meant to say. */
function asSaid({ incomplete }: HistoryMessage, text: string): string {
  return incomplete === null ? text : `${text}\n\n[This answer was cut off: ${incomplete}.]`.trimStart();
}
