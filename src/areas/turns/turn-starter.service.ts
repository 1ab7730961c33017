import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/tokens/caller.js';
import type { ClaimedTurn } from './claimed-turn.js';
import { TurnSlots } from './limits/turn-slots.js';
import type { NewUserMessage } from './message.js';
import { type StartedTurn, TurnsService } from './turns.service.js';

/** Starts a turn that has its session and a place in this process. */
@Injectable()
export class TurnStarter {
  private readonly listeners: ((channel: string) => void)[] = [];

  constructor(
    private readonly turns: TurnsService,
    private readonly slots: TurnSlots,
  ) {}

  /** Called once by who wants to know of every turn on which channel it begins. */
  onStart(listener: (channel: string) => void): void {
    this.listeners.push(listener);
  }

  start(begun: ClaimedTurn, message: NewUserMessage, caller: Caller): StartedTurn {
    try {
      for (const listener of this.listeners) listener(begun.channel);
      return this.turns.start(begun, message, caller);
    } finally {
      // From here on the running turn is what takes the place.
      this.slots.release();
    }
  }
}
