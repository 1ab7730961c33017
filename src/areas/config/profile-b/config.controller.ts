import { Body, Get, Patch, Res } from '@nestjs/common';
import { ApiBody, ApiHeader } from '@nestjs/swagger';
import type { Response } from 'express';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import type { Table } from '../../../platform/settings/dotted-path.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { Configuration } from '../configuration.js';
import { authorOf } from '../wire/author-of.js';
import { IfMatch, type TagMatcher } from '../wire/if-match.js';
import { AnswersConfig, showConfig } from '../wire/show-config.js';
import { PATCH_EXAMPLES, PatchedViewB, presentPatchB } from './config.views.js';

/** The configuration in Profile B (docs/specification/api.md, 4.2). */
@ProfileBController('config')
export class ConfigControllerB {
  constructor(private readonly configuration: Configuration) {}

  @Get()
  @Does('Show the configuration', 'What is in force, with secrets replaced by a marker.')
  @RequireScope('config:read')
  @AnswersConfig()
  show(@Res({ passthrough: true }) response: Response): Table {
    return showConfig(this.configuration.live, response);
  }

  @Patch()
  @Does(
    'Change the configuration',
    'All of it is applied, or nothing. With `If-Match` only when nobody changed it meanwhile (409 otherwise).',
  )
  @RequireScope('config:write', 'config_write')
  @TakesJsonBody()
  @ApiBody({
    description:
      'Dotted keys with their new values; null gives a key back to the file. Keys that decide who may do what need the scope security:write, too',
    schema: { type: 'object', additionalProperties: true },
    examples: PATCH_EXAMPLES,
  })
  @ApiHeader({
    name: 'If-Match',
    required: false,
    description: 'The ETag of the configuration it is based on',
  })
  @Answers(200, 'All of it is applied', PatchedViewB, ['ETag'])
  async patch(
    @Body() body: Table,
    @CurrentCaller() caller: Caller,
    @IfMatch() allowed: TagMatcher,
    @IdempotencyKey() key: RequestKey | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PatchedViewB> {
    const onCommit = key?.storing(200, presentPatchB, ({ etag }) => ({ ETag: etag }));
    const outcome = await this.configuration.patch(body, authorOf(caller), allowed, onCommit);
    response.setHeader('ETag', outcome.etag);
    return presentPatchB(outcome);
  }
}
