import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/settings.js';
import { type Caller, familyOf } from '../../platform/tokens/caller.js';
import { TokenStore } from '../../platform/tokens/token.store.js';
import type { Asker } from '../tools/tools.api.js';
import { OwnCall } from './sessions.errors.js';

/** What is known about the sender of the message that made a call. */
interface Asked {
  readonly askedBy: string | null;
  readonly asker: Asker | null;
  /** Of the session. */
  readonly userId: string;
}

/**
 * `tools.approval.separate`: nobody decides about calls of their own message (docs/specification/additions.md, Tools).
 */
@Injectable()
export class AskerRule {
  constructor(
    private readonly settings: Settings,
    private readonly tokens: TokenStore,
  ) {}

  /**
   * Throws `OwnCall` for the token that asked and the tokens that it made, as a token cannot pass on more than it has,
   * and for the same person: the user of the session, of the token that asked, or of its JWT.
   */
  async refuse(asked: Asked, caller: Caller): Promise<void> {
    if (!this.settings.current.tools.approval.separate) return;
    if (asked.askedBy === caller.tokenName || isSamePerson(asked, caller)) throw new OwnCall();
    const { asker } = asked;
    if (asker !== null && (await this.tokens.isMadeBy(familyOf(caller), familyOf(asker))))
      throw new OwnCall();
  }
}

function isSamePerson({ asker, userId }: Asked, caller: Caller): boolean {
  const askers = [userId, asker?.boundUserId, asker?.verifiedUserId];
  const deciders = [caller.boundUserId, caller.verifiedUserId];
  return deciders.some((id) => typeof id === 'string' && askers.includes(id));
}
