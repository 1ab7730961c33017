import type { Caller } from '../../../platform/tokens/caller.js';
import { grants } from '../../../platform/tokens/scopes.js';
import type { ConfigAuthor } from '../config-change.js';

export function authorOf({ tokenId, tokenName, scopes }: Caller): ConfigAuthor {
  return { tokenId, name: tokenName, maySetSecurity: grants(scopes, 'security:write') };
}
