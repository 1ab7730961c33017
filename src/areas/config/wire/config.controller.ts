import { Get, Res } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Does } from '../../../http/openapi/answers.decorator.js';
import { BothProfilesController } from '../../../http/profiles/profile.js';
import { headerReferences } from '../../../http/response-headers.js';
import type { Table } from '../../../platform/settings/dotted-path.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { Configuration } from '../configuration.js';

/** The configuration as both profiles show it (docs/specification/api.md, 4.1 and 4.2). */
@BothProfilesController('config')
export class ConfigController {
  constructor(private readonly configuration: Configuration) {}

  @Get()
  @Does('Show the configuration', 'What is in force, with secrets replaced by a marker.')
  @RequireScope('config:read')
  @ApiResponse({
    status: 200,
    description: 'The configuration in force; secrets read as the redaction marker',
    headers: headerReferences(['ETag']),
    schema: { type: 'object', additionalProperties: { type: 'object', additionalProperties: true } },
  })
  show(@CurrentCaller() caller: Caller, @Res({ passthrough: true }) response: Response): Table {
    refuseSomeAgents('the configuration is that', caller);
    // The tree and its tag are of the same snapshot.
    const { etag, shown } = this.configuration.live.snapshot;
    response.setHeader('ETag', etag);
    return shown;
  }
}
