import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/tokens/caller.js';
import type { ClaimedTurn } from './claimed-turn.js';
import { TurnSlots } from './limits/turn-slots.js';
import type { TakenUpTurn } from './lost/lost-turns.store.js';
import type { NewUserMessage } from './message.js';
import { type StartedTurn, TurnsService } from './turns.service.js';

/** Starts a turn that has its session and a slot in this process. */
@Injectable()
export class TurnStarter {
  private readonly listeners: ((channel: string) => void)[] = [];

  constructor(
    private readonly turns: TurnsService,
    private readonly slots: TurnSlots,
  ) {}

  /** Registers a listener, which gets the channel of every turn that begins. */
  onStart(listener: (channel: string) => void): void {
    this.listeners.push(listener);
  }

  start(begun: ClaimedTurn, message: NewUserMessage, caller: Caller): StartedTurn {
    return this.run(begun.channel, () => this.turns.start(begun, message, caller));
  }

  /** Continues a turn of another replica. */
  goOn({ claimed, message, steps, lastStep, attempt, ranMs }: TakenUpTurn, caller: Caller): StartedTurn {
    return this.run(claimed.channel, () =>
      this.turns.start(claimed, message, caller, { done: steps, lastStep, attempt, ranMs }),
    );
  }

  private run(channel: string, start: () => StartedTurn): StartedTurn {
    try {
      for (const listener of this.listeners) listener(channel);
      return start();
    } finally {
      // From here on the running turn itself occupies the slot.
      this.slots.release();
    }
  }
}
