import {
  BYTES_PER_TOKEN,
  estimatedTokens,
  type ModelMessage,
  type ModelToolResult,
  messageTokens,
} from '../../models/models.api.js';
import type { ContextBudget } from '../prompt/context-cut.js';

/** How much of the results of tools is shown from now on: bytes of text by the ids of their calls, 0 for none. */
export type ShownResults = Readonly<Record<string, number>>;

/** Stands in place of a result that does not fit any more. */
export const RESULT_CUT =
  '[This result is left out, because the conversation is long. Call the tool again if it is still needed.]';

/** The result as it is shown; as soon as one byte is cut, its pictures and files are left out too. */
export function shownResult(result: ModelToolResult, shown: ShownResults): ModelToolResult {
  const most = shown[result.callId];
  if (most === undefined) return result;
  const { callId, content, isError } = result;
  if (most === 0) return { callId, content: RESULT_CUT, isError: false };
  const bytes = Buffer.from(content);
  if (bytes.length <= most) return { callId, content, isError };
  // A decoder in stream mode holds back the first bytes of an incomplete character.
  const head = new TextDecoder().decode(bytes.subarray(0, most), { stream: true });
  return {
    callId,
    content: `${head}\n[cut, because the conversation is long: ${bytes.length} bytes in all]`,
    isError,
  };
}

/** One round of a turn: what the model asked, and what its tools returned. */
export interface OwnRound {
  readonly asked: ModelMessage;
  readonly results: readonly ModelToolResult[];
}

/** What a shortened result takes besides its text, in tokens. */
const MARK_TOKENS = 40;
/** At least this many bytes of a result are shown when its round is the last one. */
const LEAST_BYTES = 256;

/**
 * Which results of a turn's own rounds have to be cut so that its next call fits; undefined when all fit. Results of
 * the oldest rounds go first, until a share is left that lasts for many calls; when that is not enough, the results of
 * the last round are shortened.
 * @param otherTokens of everything else that is sent
 */
export function shortened(
  rounds: readonly OwnRound[],
  shown: ShownResults,
  budget: Pick<ContextBudget, 'tokens' | 'tokensAfter'>,
  otherTokens: number,
): ShownResults | undefined {
  const sizes = rounds.map(({ results }) => resultsTokens(results, shown));
  const asked = rounds.reduce((sum, round) => sum + messageTokens(round.asked), otherTokens);
  let tokens = sizes.reduce((sum, size) => sum + size, asked);
  if (tokens <= budget.tokens) return undefined;
  const now: Record<string, number> = { ...shown };
  for (const [index, { results }] of rounds.slice(0, -1).entries()) {
    if (tokens <= budget.tokensAfter) break;
    for (const { callId } of results) now[callId] = 0;
    tokens -= (sizes[index] ?? 0) - resultsTokens(results, now);
  }
  const last = rounds.at(-1);
  if (tokens > budget.tokens && last !== undefined) {
    const room = budget.tokens - tokens + (sizes.at(-1) ?? 0);
    Object.assign(now, shares(last.results, room));
  }
  return Object.keys(now).every((id) => now[id] === shown[id]) ? undefined : now;
}

/** The same room for each result; what a short one leaves over goes to the others. */
function shares(results: readonly ModelToolResult[], room: number): Record<string, number> {
  const shown: Record<string, number> = {};
  const bySize = results
    .map((result) => ({ result, whole: resultsTokens([result], {}) }))
    .sort((one, other) => one.whole - other.whole);
  let left = room;
  for (const [index, { result, whole }] of bySize.entries()) {
    const share = Math.max(0, Math.floor(left / (bySize.length - index)));
    left -= Math.min(whole, share);
    if (whole <= share) continue;
    const { callId, content } = result;
    const tokens = Math.min(estimatedTokens(content), share - MARK_TOKENS);
    shown[callId] = Math.max(LEAST_BYTES, tokens * BYTES_PER_TOKEN);
  }
  return shown;
}

function resultsTokens(results: readonly ModelToolResult[], shown: ShownResults): number {
  return messageTokens({ role: 'tool', results: results.map((result) => shownResult(result, shown)) });
}

/** The rounds as the model is shown them. */
export function roundMessages(rounds: readonly OwnRound[], shown: ShownResults): ModelMessage[] {
  return rounds.flatMap(({ asked, results }): ModelMessage[] => [
    asked,
    { role: 'tool', results: results.map((result) => shownResult(result, shown)) },
  ]);
}
