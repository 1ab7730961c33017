import { Controller, Get, Header } from '@nestjs/common';
import type { JWK } from 'jose';
import { Open } from '../../../http/guards/access.decorator.js';
import { Assertions } from '../assertions.service.js';

/** The keys of assertions, on the ports of both profiles, where libraries look for them. Public keys need no token. */
@Controller({ path: '.well-known/jwks.json', version: ['a', 'b'] })
@Open()
export class JwksController {
  constructor(private readonly assertions: Assertions) {}

  @Get()
  @Header('Cache-Control', 'public, max-age=300')
  async keys(): Promise<{ keys: readonly JWK[] }> {
    return { keys: await this.assertions.publicKeys() };
  }
}
