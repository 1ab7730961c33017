import { Get, Req } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CurrentCaller, OwnToken } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { readBuildInfo } from '../../../platform/lifecycle/build-info.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { SCOPES } from '../../../platform/tokens/scopes.js';

/** What a token says about itself, without the token. */
class MeView {
  @ApiProperty({ example: 'laptop', description: 'The name of the token, or `issuer|subject` of a JWT' })
  name!: string;

  @ApiProperty({ enum: [...SCOPES, '*'], isArray: true })
  scopes!: readonly string[];

  @ApiProperty({ type: 'string', nullable: true, description: 'The only user that it sees; null sees all' })
  user_id!: string | null;

  @ApiProperty({
    type: 'string',
    isArray: true,
    nullable: true,
    description: 'The only agents it may use; null is all',
  })
  agents!: readonly string[] | null;

  @ApiProperty({ enum: ['a', 'b'], description: 'The profile that this port serves below `/api/v1`' })
  profile!: string;

  @ApiProperty({ description: 'The version of the gateway', example: '0.1.0' })
  version!: string;
}

/** What the caller's own token may do (docs/specification/additions.md, Operators' API). */
@AdminController('me')
export class MeController {
  @Get()
  @Does('Show what this token may do', 'Its name, scopes, user and agents; any valid token may ask.')
  @OwnToken()
  @Answers(200, 'The caller', MeView)
  show(@CurrentCaller() caller: Caller, @Req() { profile }: GatewayRequest): MeView {
    return {
      name: caller.tokenName,
      scopes: caller.scopes,
      user_id: caller.boundUserId,
      agents: caller.agents ?? null,
      profile,
      version: readBuildInfo().version,
    };
  }
}
