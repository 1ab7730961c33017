import type { Caller } from '../../tokens/caller.js';
import { grants } from '../../tokens/scopes.js';
import type { ConfigAuthor } from '../config-change.js';

export function authorOf({ tokenId, tokenName, scopes }: Caller): ConfigAuthor {
  return { tokenId, name: tokenName, maySetSecurity: grants(scopes, 'security:write') };
}
