import { storableText } from '../../../platform/database/storable-text.js';
import { LiveTurn, readEvents, TurnInterrupted, TurnNotRepeated } from '../../turns/turns.api.js';
import type { TurnRecord } from '../turn-records.store.js';

/** A turn that another replica runs, told here as it is written there. */
export class MirroredTurn {
  readonly live: LiveTurn;
  /** The last frame that was read. */
  n = 0;

  constructor(
    sessionId: string,
    readonly turnId: string,
  ) {
    this.live = new LiveTurn(sessionId, turnId, undefined, true);
  }

  apply(n: number, events: string): void {
    this.n = n;
    for (const event of readEvents(events)) void this.live.publish(event);
  }

  /** It is over: the history has what was not written, and how it ended. */
  finish(record: TurnRecord | undefined): void {
    const { answer: said, error } = record ?? {};
    const streamed = storableText(this.live.text());
    const rest = said?.content.startsWith(streamed) ? said.content.slice(streamed.length) : '';
    if (rest !== '') void this.live.publish({ type: 'token', text: rest });
    if (error === undefined && said !== undefined) void this.live.publish({ type: 'done', message: said });
    else void this.live.publish({ type: 'error', error: shown(error) });
  }
}

function shown(error: TurnRecord['error']) {
  return error === undefined || error instanceof TurnNotRepeated ? new TurnInterrupted() : error;
}
