import { Module } from '@nestjs/common';
import { TokensModule } from '../../platform/tokens/tokens.module.js';
import { ConsoleSignIn } from './console-sign-in.service.js';
import { TokenAdmin } from './token-admin.service.js';

/** Lets holders of tokens manage tokens. */
@Module({
  imports: [TokensModule],
  providers: [TokenAdmin, ConsoleSignIn],
  exports: [TokenAdmin, ConsoleSignIn],
})
export class TokenAdminModule {}
