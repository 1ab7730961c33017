import { HttpCode, Post } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { authorOf } from '../config-change.js';
import { Configuration } from '../configuration.js';

class ReloadedViewA {
  @ApiProperty()
  reloaded!: boolean;

  @ApiProperty({ type: [String], description: 'Dotted keys that changed', example: ['agent.max_turns'] })
  changes!: string[];
}

function presentReloadA(changes: readonly string[]): ReloadedViewA {
  return { reloaded: true, changes: [...changes] };
}

/** What only Profile A does with the configuration (docs/specification/api.md, 4.1). */
@ProfileAController('config')
export class ConfigControllerA {
  constructor(private readonly configuration: Configuration) {}

  @Post('reload')
  @Does('Reload the configuration', 'Reads the file and the environment again and applies what changed.')
  @HttpCode(200)
  @RequireScope('config:write', 'config_write')
  @Answers(200, 'File and environment were read again', ReloadedViewA)
  async reload(
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
  ): Promise<ReloadedViewA> {
    refuseSomeAgents('the configuration is that', caller);
    const onCommit = key?.storing(200, presentReloadA);
    return presentReloadA(await this.configuration.reload(authorOf(caller), onCommit));
  }
}
