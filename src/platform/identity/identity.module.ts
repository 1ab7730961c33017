import { Module } from '@nestjs/common';
import { scrapedGauge } from '../metrics/scrape.service.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { CallerDirectory } from './caller-directory.js';
import { Denials } from './denials.service.js';
import { JwtDirectory } from './jwt-directory.js';
import { JwtIssuers } from './jwt-issuers.service.js';
import { KeyFetcher } from './key-fetcher.js';

const keysAge = scrapedGauge(
  {
    name: 'agent_gateway_jwt_keys_age_seconds',
    help: 'Time since the keys of each issuer of JWTs were fetched last; +Inf while there are none. Keys are used for 24 hours.',
    labelNames: ['issuer'],
  },
  JwtIssuers,
  (issuers) => [...issuers.ages()].map(([issuer, ageMs]) => ({ labels: { issuer }, value: ageMs / 1000 })),
);

/** Who calls: holders of API tokens, and of tokens of the company's identity provider. */
@Module({
  imports: [TokensModule],
  providers: [KeyFetcher, JwtIssuers, Denials, JwtDirectory, CallerDirectory, ...keysAge],
  exports: [CallerDirectory, Denials],
})
export class IdentityModule {}
