import type { ModelEvent } from '../../model-provider.port.js';

/** Texts that came together go on together: a step for each is what an answer costs most. Those before a fault go on first. */
export function* joinedTokens(events: Iterable<ModelEvent>): Generator<ModelEvent> {
  let text = '';
  try {
    for (const event of events) {
      if (event.type === 'token') {
        text += event.text;
        continue;
      }
      if (text !== '') yield { type: 'token', text };
      text = '';
      yield event;
    }
  } catch (error) {
    if (text !== '') yield { type: 'token', text };
    throw error;
  }
  if (text !== '') yield { type: 'token', text };
}
