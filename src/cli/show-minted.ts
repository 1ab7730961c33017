import type { MintedToken, TokensService } from '../platform/tokens/tokens.service.js';
import type { CommandContext } from './command-context.js';
import { mintedJson, mintedSentence } from './token-text.js';
import type { DatabaseAccess } from './with-database.js';

/** Makes a token and prints it alone, so that `$(…)` takes it; what is said about it goes to standard error. */
export async function showMinted(
  context: CommandContext,
  access: DatabaseAccess,
  { json = false }: { readonly json?: boolean },
  make: (tokens: TokensService) => Promise<MintedToken>,
): Promise<void> {
  const { withTokens } = await import('./with-tokens.js');
  const { minted, place: location } = await withTokens(context, access, async (given) => ({
    minted: await make(given.tokens),
    place: given.location,
  }));
  const { terminal } = context;
  terminal.out(json ? `${JSON.stringify(mintedJson(minted), undefined, 2)}\n` : `${minted.secret}\n`);
  terminal.err(`${mintedSentence(minted, location)}\n`);
}
