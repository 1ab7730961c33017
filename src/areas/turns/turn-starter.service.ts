import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/tokens/caller.js';
import { ChannelActivity } from '../channels/channel-activity.js';
import type { ClaimedTurn } from './claimed-turn.js';
import { TurnSlots } from './limits/turn-slots.js';
import type { NewUserMessage } from './message.js';
import { type StartedTurn, TurnsService } from './turns.service.js';

/** Starts a turn that has its session and a place in this process. */
@Injectable()
export class TurnStarter {
  constructor(
    private readonly turns: TurnsService,
    private readonly activity: ChannelActivity,
    private readonly slots: TurnSlots,
  ) {}

  start(begun: ClaimedTurn, message: NewUserMessage, caller: Caller): StartedTurn {
    try {
      this.activity.note(begun.channel);
      return this.turns.start(begun, message, caller);
    } finally {
      // From here on the running turn is what takes the place.
      this.slots.release();
    }
  }
}
