import { Body, Get, Patch, Res } from '@nestjs/common';
import { ApiBody, ApiHeader } from '@nestjs/swagger';
import type { Response } from 'express';
import { RequireScope } from '../../edge/access.decorator.js';
import { Answers } from '../../edge/answers.decorator.js';
import { TheCaller } from '../../edge/caller.decorator.js';
import type { RequestKey } from '../../edge/idempotency/request-key.js';
import { TheKey } from '../../edge/idempotency/the-key.decorator.js';
import { TakesJsonBody } from '../../edge/takes-body.decorator.js';
import { ProfileBController } from '../../profiles/profile.js';
import type { Caller } from '../../tokens/caller.js';
import { Configuration } from '../configuration.js';
import type { Table } from '../dotted-path.js';
import { actorOf } from '../wire/actor-of.js';
import { IfMatch, type TagJudge } from '../wire/if-match.js';
import { AnswersConfig, showConfig } from '../wire/show-config.js';
import { PatchedViewB, presentPatchB } from './config.views.js';

/** The configuration in Profile B (specification 4.2). */
@ProfileBController('config')
export class ConfigControllerB {
  constructor(private readonly configuration: Configuration) {}

  @Get()
  @RequireScope('config:read')
  @AnswersConfig()
  show(@Res({ passthrough: true }) response: Response): Table {
    return showConfig(this.configuration.live, response);
  }

  @Patch()
  @RequireScope('config:write', 'config_write')
  @TakesJsonBody()
  @ApiBody({
    description: 'Dotted keys with their new values; null gives a key back to the file',
    schema: { type: 'object', additionalProperties: true, example: { 'agent.max_turns': 30 } },
  })
  @ApiHeader({
    name: 'If-Match',
    required: false,
    description: 'The ETag of the configuration it is based on',
  })
  @Answers(200, 'All of it is applied', PatchedViewB)
  async patch(
    @Body() body: Table,
    @TheCaller() caller: Caller,
    @IfMatch() allowed: TagJudge,
    @TheKey() key: RequestKey | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PatchedViewB> {
    const together = key?.keeping(200, presentPatchB, ({ etag }) => ({ ETag: etag }));
    const outcome = await this.configuration.patch(body, actorOf(caller), allowed, together);
    response.setHeader('ETag', outcome.etag);
    return presentPatchB(outcome);
  }
}
