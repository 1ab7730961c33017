import { Get, Param, Query, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Open } from '../../../http/guards/access.decorator.js';
import { ADMIN_PREFIX, FaceController } from '../../../http/profiles/faces.js';
import { SignInRefused } from './sign-in.errors.js';
import { SIGN_IN_PATHS, SignInService } from './sign-in.service.js';

const MAX_LENGTH = 4096;

/** Pages of a sign-in to a tool server, which no client of the API asks for. Open: a browser that comes back has no token, but the state that it was sent away with. */
@FaceController(`${ADMIN_PREFIX}/${SIGN_IN_PATHS.controller}`)
@Open()
@ApiExcludeController()
export class ToolServerSignInController {
  constructor(private readonly signIns: SignInService) {}

  /** Authorization servers add parameters of their own, which say nothing here (RFC 6749, 4.1.2). */
  @Get(`:server/${SIGN_IN_PATHS.callback}`)
  async finish(
    @Param('server') name: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() response: Response,
  ): Promise<void> {
    const said = (name: string): string | undefined => {
      const value = query[name];
      return typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH ? value : undefined;
    };
    const state = said('state');
    if (state === undefined) {
      this.signIns.requireSignIn(name);
      throw new SignInRefused('This is no way back from a sign-in: it has no state.');
    }
    const answer = {
      code: said('code'),
      iss: said('iss'),
      error: said('error'),
      description: said('error_description'),
    };
    await this.signIns.finish(name, { state, ...answer });
    // The address of this page holds a code, which is used up.
    response.set({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).type('text/plain');
    response.send(`Signed in to ${name}. You can close this page.\n`);
  }

  @Get(`:server/${SIGN_IN_PATHS.client}`)
  client(@Param('server') name: string): object {
    return this.signIns.clientDocument(name);
  }
}
