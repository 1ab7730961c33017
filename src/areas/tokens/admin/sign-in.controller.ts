import { HttpCode, Post, Req } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { Open } from '../../../http/guards/access.decorator.js';
import { ClientAddress } from '../../../http/guards/client-address.js';
import { Answers, Does, Refuses } from '../../../http/openapi/answers.decorator.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { ConsoleSignIn } from '../console-sign-in.service.js';
import { NewTokenView, presentNewToken } from './token.views.js';

const SCHEME = 'Sign-In-Code ';
/** A proxy on this machine forwards requests of callers on others. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/** The link that a start prints leads to the console, which exchanges its code here. */
@AdminController('console')
export class SignInController {
  constructor(
    private readonly signIn: ConsoleSignIn,
    private readonly addresses: ClientAddress,
  ) {}

  @Post('sign-in')
  @Does(
    'Create a token with a sign-in link',
    "Exchanges the code of the link that the gateway's start prints for a token of twelve hours: once, within ten minutes, " +
      'and only from the machine of the gateway. The code is in a header, so that nothing of a stranger is parsed.',
  )
  @ApiHeader({
    name: 'Authorization',
    required: true,
    description: '`Sign-In-Code` and the code of the link',
    schema: { type: 'string' },
  })
  @HttpCode(201)
  @Open()
  @Answers(201, 'The token', NewTokenView)
  @Refuses(401)
  async exchange(@Req() request: GatewayRequest): Promise<NewTokenView> {
    const { authorization = '' } = request.headers;
    const code = authorization.startsWith(SCHEME) ? authorization.slice(SCHEME.length) : '';
    return presentNewToken(await this.signIn.exchange(code, this.isFromThisMachine(request)));
  }

  private isFromThisMachine({ socket, headers }: GatewayRequest): boolean {
    const address = this.addresses.ofPeer(socket);
    const isLoopback = address === '::1' || address.startsWith('127.');
    return isLoopback && FORWARDED.every((name) => headers[name] === undefined);
  }
}
