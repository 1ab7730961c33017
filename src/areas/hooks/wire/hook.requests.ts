import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString } from 'class-validator';
import { Optional, TextLength } from '../../../http/validation/field.decorator.js';
import { FurtherChecks } from '../../../http/validation/further-checks.js';
import { SUBSCRIBABLE } from '../../../platform/events/event-catalogue.js';
import { type HookInput, HooksService } from '../hooks.service.js';

/** POST /hooks, the same in both profiles (docs/specification/api.md, 4.1 and 4.2). */
export class RegisterHookRequest {
  @ApiProperty({
    format: 'uri',
    example: 'https://example.com/agent-events',
    description: 'http or https, at a public address, without credentials',
  })
  @TextLength(1, 2048)
  url!: string;

  @ApiProperty({
    enum: [...SUBSCRIBABLE],
    isArray: true,
    example: ['session.created', 'message.*'],
    minItems: 1,
    maxItems: 50,
    description: 'Event names, `*`, or a pattern such as `session.*`',
  })
  @IsString({ each: true, message: 'must be a list of strings' })
  @ArrayMaxSize(50, { message: 'must have at most 50 items' })
  @ArrayMinSize(1, { message: 'must have at least one item' })
  @IsArray({ message: 'must be a list of strings' })
  events!: string[];

  @ApiPropertyOptional({
    description: 'Signs the deliveries; `whsec_` and base64, or any text. Never returned',
  })
  @Optional()
  @TextLength(8, 256)
  secret?: string;
}

/** Each can be sent unchanged. */
export const REGISTER_EXAMPLES = {
  signed: {
    summary: 'New sessions and all messages, signed',
    value: {
      url: 'https://example.com/agent-events',
      events: ['session.created', 'message.*'],
      secret: 'whsec_bm90IGEgc2VjcmV0LCBhbiBleGFtcGxlIG9ubHk=',
    },
  },
  everything: {
    summary: 'Everything, not signed',
    value: { url: 'https://example.com/agent-events', events: ['*'] },
  },
};

/** Reports unknown events, bad secrets and refused addresses together with the other problems of a registration. */
@Injectable()
export class HookRequestChecks implements OnModuleInit {
  constructor(
    private readonly checks: FurtherChecks,
    private readonly hooks: HooksService,
  ) {}

  onModuleInit(): void {
    this.checks.add(RegisterHookRequest, (sent, isFaulty) => {
      const { url, events, secret } = sent as Partial<HookInput>;
      return this.hooks.problemsOf({
        ...(url === undefined || isFaulty('url') ? {} : { url }),
        ...(events === undefined || isFaulty('events') ? {} : { events }),
        ...(isFaulty('secret') ? {} : { secret }),
      });
    });
  }
}
