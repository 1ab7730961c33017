import { Module } from '@nestjs/common';
import { TokenStore } from './token.store.js';
import { TokenDirectory } from './token-directory.js';
import { TokenUse } from './token-use.service.js';
import { TokensService } from './tokens.service.js';

/** Who may call: API tokens and what they allow. */
@Module({
  providers: [TokenStore, TokenUse, TokenDirectory, TokensService],
  exports: [TokenDirectory, TokensService],
})
export class TokensModule {}
