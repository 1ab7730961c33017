import { Module } from '@nestjs/common';
import { CredentialRevisions } from './credential-revisions.js';
import { TokenStore } from './token.store.js';
import { TokenDirectory } from './token-directory.js';
import { TokenEndings } from './token-endings.js';
import { TokenUse } from './token-use.service.js';
import { TokensService } from './tokens.service.js';

/** Who may call: API tokens and what they allow. */
@Module({
  providers: [TokenStore, TokenUse, CredentialRevisions, TokenDirectory, TokenEndings, TokensService],
  exports: [CredentialRevisions, TokenDirectory, TokenEndings, TokenStore, TokensService],
})
export class TokensModule {}
