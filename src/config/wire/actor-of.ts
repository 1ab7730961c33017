import type { Caller } from '../../tokens/caller.js';
import type { ConfigActor } from '../config-change.js';

export function actorOf({ tokenId, tokenName }: Caller): ConfigActor {
  return { tokenId, name: tokenName };
}
