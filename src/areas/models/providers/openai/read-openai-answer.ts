import type { ModelEvent } from '../../model-provider.port.js';
import type { AttemptClock } from '../wire/attempt-clock.js';
import { joinedTokens } from '../wire/joined-tokens.js';
import { parseEvent } from '../wire/parse-event.js';
import type { ServerEvent } from '../wire/server-event-parser.js';
import { WireFault } from '../wire/wire-fault.js';
import { OpenAiAnswer, type OpenAiChunk } from './openai-answer.js';

/** Most reads between the end of an answer and the end of its stream: the usage and the mark itself. */
const MAX_READS_AFTER_END = 8;

/** The neutral stream of one answer. The connection is read to its end, so that it can serve the next call. */
export async function* readOpenAiAnswer(
  batches: AsyncIterable<readonly ServerEvent[]>,
  model: string,
  clock: AttemptClock,
): AsyncGenerator<ModelEvent> {
  const answer = new OpenAiAnswer(model);
  let readsAfterEnd = 0;
  try {
    for await (const batch of batches) {
      for (const event of joinedTokens(tokensOf(batch, answer))) yield event;
      if (!answer.isComplete()) continue;
      clock.closing();
      readsAfterEnd += 1;
      if (readsAfterEnd > MAX_READS_AFTER_END) break;
    }
  } catch (error) {
    if (!answer.isComplete()) throw error;
  }
  if (!answer.isComplete()) throw new WireFault({ kind: 'cut' });
  const calls = answer.toolCalls();
  for (const call of calls) yield { type: 'tool_call', call };
  yield answer.end(calls.length > 0);
}

function* tokensOf(batch: readonly ServerEvent[], answer: OpenAiAnswer): Generator<ModelEvent> {
  for (const { data } of batch) {
    const text = data === '[DONE]' ? '' : answer.add(parseEvent<OpenAiChunk>(data));
    if (data === '[DONE]') answer.done();
    if (text !== '') yield { type: 'token', text };
  }
}
