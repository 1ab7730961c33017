import type { ModelEvent } from '../../model-provider.port.js';
import type { AttemptClock } from '../wire/attempt-clock.js';
import { joinedTokens } from '../wire/joined-tokens.js';
import { parseEvent } from '../wire/parse-event.js';
import type { ServerEvent } from '../wire/server-event-parser.js';
import { WireFault } from '../wire/wire-fault.js';
import { AnthropicAnswer, type AnthropicEvent } from './anthropic-answer.js';
import type { AnthropicParams } from './anthropic-request.js';

/** The neutral stream of one answer. The connection is read to its end, so that it can serve the next call. */
export async function* readAnthropicAnswer(
  batches: AsyncIterable<readonly ServerEvent[]>,
  params: AnthropicParams,
  clock: AttemptClock,
): AsyncGenerator<ModelEvent> {
  const answer = new AnthropicAnswer(params);
  try {
    for await (const batch of batches) {
      if (answer.isComplete()) break;
      for (const event of joinedTokens(eventsOf(batch, answer))) yield event;
      if (answer.isComplete()) clock.closing();
    }
  } catch (error) {
    if (!answer.isComplete()) throw error;
  }
  if (!answer.isComplete()) throw new WireFault({ kind: 'cut' });
  yield answer.end();
}

function* eventsOf(batch: readonly ServerEvent[], answer: AnthropicAnswer): Generator<ModelEvent> {
  for (const { data } of batch) {
    if (answer.isComplete()) return;
    const event = answer.add(parseEvent<AnthropicEvent>(data));
    if (event !== undefined) yield event;
  }
}
