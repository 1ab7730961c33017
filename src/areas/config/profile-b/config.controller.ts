import { Body, createParamDecorator, type ExecutionContext, Patch, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiProperty } from '@nestjs/swagger';
import type { Response } from 'express';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import type { Table } from '../../../platform/settings/dotted-path.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { authorOf } from '../config-change.js';
import { Configuration, type PatchOutcome } from '../configuration.js';

/** Whether an entity tag satisfies If-Match (RFC 9110, 13.1.1). Without the header every tag does. */
export type TagMatcher = (etag: string) => boolean;

export function tagMatcher(header: string | undefined): TagMatcher {
  if (header === undefined || header.trim() === '*') return () => true;
  const tags = header.split(',').map((tag) => tag.trim());
  return (etag) => tags.includes(etag);
}

/** The matcher of the request's If-Match. */
const IfMatch = createParamDecorator((_data: unknown, context: ExecutionContext): TagMatcher => {
  return tagMatcher(context.switchToHttp().getRequest<GatewayRequest>().headers['if-match']);
});

class PatchedViewB {
  @ApiProperty({ type: [String], description: 'The keys applied', example: ['agent.max_turns'] })
  updated!: string[];

  @ApiProperty({ description: 'One of these keys takes effect at the next start only' })
  reload_required!: boolean;
}

/** Each can be sent as it stands. */
const PATCH_EXAMPLES = {
  set: { summary: 'Set a key', value: { 'agent.max_turns': 30 } },
  give_back: { summary: 'Give a key back to the file', value: { 'agent.max_turns': null } },
};

function presentPatchB({ updated, reloadRequired }: PatchOutcome): PatchedViewB {
  return { updated: [...updated], reload_required: reloadRequired };
}

/** What only Profile B does with the configuration (docs/specification/api.md, 4.2). */
@ProfileBController('config')
export class ConfigControllerB {
  constructor(private readonly configuration: Configuration) {}

  @Patch()
  @Does(
    'Change the configuration',
    'All of it is applied, or nothing. With `If-Match`, only if no one has changed it meanwhile (409 otherwise).',
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
    refuseSomeAgents('the configuration is that', caller);
    const onCommit = key?.storing(200, presentPatchB, ({ etag }) => ({ ETag: etag }));
    const outcome = await this.configuration.patch(body, authorOf(caller), allowed, onCommit);
    response.setHeader('ETag', outcome.etag);
    return presentPatchB(outcome);
  }
}
