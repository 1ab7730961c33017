import { Module } from '@nestjs/common';
import { TokensModule } from '../tokens/tokens.module.js';
import { CallerDirectory } from './caller-directory.js';
import { Denials } from './denials.service.js';
import { JwtDirectory } from './jwt-directory.js';
import { JwtIssuers } from './jwt-issuers.service.js';
import { KeyFetcher } from './key-fetcher.js';

/** Who calls: holders of API tokens and of the company's own tokens. */
@Module({
  imports: [TokensModule],
  providers: [KeyFetcher, JwtIssuers, Denials, JwtDirectory, CallerDirectory],
  exports: [CallerDirectory, Denials],
})
export class IdentityModule {}
