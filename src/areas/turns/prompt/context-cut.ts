import { BYTES_PER_TOKEN, TOKENS_PER_MESSAGE } from '../../models/models.api.js';
import type { HistoryMessage } from '../message.js';

/**
 * How much of the oldest part of a session's history is no longer sent to the model, by places in the history; 0 is
 * nothing.
 */
export interface ContextCut {
  /** Messages up to this place are not sent. */
  readonly messages: number;
  /** Of messages up to this place, the results of tools are not sent; never before `messages`. */
  readonly results: number;
}

/** A user message with everything up to the next one, as the budget sees it. */
export interface ExchangeSize {
  /** The place of its last message. */
  readonly through: number;
  readonly messages: number;
  /** Estimated tokens, including results of tools unless they are cut already. */
  readonly tokens: number;
  /** The part of `tokens` that is saved when the results of its tools are cut. */
  readonly resultTokens: number;
}

/** How much room a history has. */
export interface ContextBudget {
  /** When the estimated tokens of all input exceed this, something is cut. */
  readonly tokens: number;
  /** What is left after a cut: a whole block is cut, so that the new prefix lasts for many calls. */
  readonly tokensAfter: number;
  readonly messages: number;
  readonly messagesAfter: number;
}

/** The share of a context that is left after a cut. */
const SHARE_AFTER = 0.6;

interface ContextSettings {
  readonly context_tokens: number;
  readonly compact_at: number;
  readonly history_max_messages: number;
}

/** The agent's answer needs room too, so a long answer leaves less for the history. */
export function contextBudget(settings: ContextSettings, output: number): ContextBudget {
  const { context_tokens: context, history_max_messages: messages } = settings;
  const tokens = Math.min(settings.compact_at * context, context - output);
  const tokensAfter = Math.min(SHARE_AFTER * context, 0.75 * tokens);
  return { tokens, tokensAfter, messages, messagesAfter: Math.floor(SHARE_AFTER * messages) };
}

/** The most bytes that a character of a string takes in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3;

/**
 * Whether a history of nothing but text fits whole, whatever its characters are: then nothing has to be counted.
 * @param seq the place of the message after it
 */
export function surelyFits(
  history: readonly HistoryMessage[],
  { seq, cut, otherTokens }: { seq: number; cut: ContextCut; otherTokens: number },
  budget: ContextBudget,
): boolean {
  const isWhole = seq - 1 - cut.messages === history.length && history[0]?.role === 'user';
  if (!isWhole || history.length > budget.messages) return false;
  let tokens = otherTokens;
  for (const { content, attachments, toolCalls, incomplete } of history) {
    if (attachments.length > 0 || toolCalls.length > 0 || incomplete !== null) return false;
    tokens += TOKENS_PER_MESSAGE + 1 + (content.length * MAX_BYTES_PER_CHARACTER) / BYTES_PER_TOKEN;
  }
  return tokens <= budget.tokens;
}

/**
 * What is to be cut now. While everything fits, the cut in force stays, so that the prefix stays too. Over budget a
 * block is cut: first the results of tools, then whole exchanges, each time the oldest first. The last exchange stays;
 * only its results may be cut, last of all.
 * @param otherTokens of what is sent besides the history
 * @param unread messages of the history, older than the exchanges, that would have to be sent too
 */
export function contextCut(
  exchanges: readonly ExchangeSize[],
  inForce: ContextCut,
  budget: ContextBudget,
  { otherTokens, unread }: { readonly otherTokens: number; readonly unread: number },
): ContextCut {
  let tokens = exchanges.reduce((sum, exchange) => sum + exchange.tokens, otherTokens);
  let count = exchanges.reduce((sum, { messages }) => sum + messages, unread);
  if (tokens <= budget.tokens && count <= budget.messages) return inForce;
  const messagesAfter = count > budget.messages ? budget.messagesAfter : budget.messages;
  const older = exchanges.slice(0, -1);
  let { messages, results } = inForce;
  for (const { through, resultTokens } of older) {
    if (tokens <= budget.tokensAfter) break;
    if (resultTokens > 0) results = Math.max(results, through);
    tokens -= resultTokens;
  }
  if (unread > 0) messages = Math.max(messages, placeBefore(exchanges));
  count -= unread;
  for (const exchange of older) {
    if (tokens <= budget.tokensAfter && count <= messagesAfter) break;
    tokens -= exchange.tokens - (exchange.through <= results ? exchange.resultTokens : 0);
    count -= exchange.messages;
    messages = exchange.through;
  }
  if (tokens > budget.tokens) results = Math.max(results, resultsOf(exchanges.at(-1)));
  return { messages, results: Math.max(messages, results) };
}

function placeBefore([first]: readonly ExchangeSize[]): number {
  return first === undefined ? 0 : first.through - first.messages;
}

/** The last place whose results are cut together with those of this exchange; 0 when it has none. */
function resultsOf(exchange: ExchangeSize | undefined): number {
  return exchange !== undefined && exchange.resultTokens > 0 ? exchange.through : 0;
}
