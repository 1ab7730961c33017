import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import {
  MAX_PER_PAGE,
  Optional,
  QueryCount,
  TextLength,
  Utf8Length,
} from '../../../http/validation/field.decorator.js';
import { FurtherChecks } from '../../../http/validation/further-checks.js';
import type { SessionFilter } from '../session.js';
import { SessionsService } from '../sessions.service.js';
import { namesCheck } from '../wire/session.shared.js';

export const STATUS_FILTERS_A = ['active', 'completed', 'all'] as const;
export type StatusFilterA = (typeof STATUS_FILTERS_A)[number];
const FILTERS = { active: 'live', completed: 'terminated', all: 'all' } as const satisfies Record<
  StatusFilterA,
  SessionFilter['status']
>;

export function statusFilterOf(label: StatusFilterA): SessionFilter['status'] {
  return FILTERS[label];
}

/** POST /sessions, Profile A (docs/specification/api.md, 2.1). */
export class CreateSessionRequestA {
  @ApiPropertyOptional({ description: '`api`, which is the default, or a configured channel' })
  @Optional()
  @TextLength(1, 128)
  channel?: string;

  @ApiPropertyOptional({ description: "Defaults to the token's user, else the token's name" })
  @Optional()
  @TextLength(1, 256)
  user_id?: string;

  @ApiPropertyOptional({
    description: 'The agent that answers, by its name in the settings; without it, `default`',
  })
  @Optional()
  @TextLength(1, 64)
  agent?: string;

  @ApiPropertyOptional({ description: 'Overrides the default system prompt; at most 64 KiB' })
  @Optional()
  @Utf8Length(0, 65_536)
  system_prompt?: string;

  @ApiPropertyOptional({ description: 'Overrides the default model' })
  @Optional()
  @TextLength(1, 256)
  model?: string;
}

/** Each can be sent as it is. */
export const CREATE_EXAMPLES_A = {
  empty: { summary: 'A session with all defaults', value: {} },
  prompted: {
    summary: 'A session with a system prompt of its own',
    value: { user_id: 'ada', system_prompt: 'You are a librarian. Answer in one sentence.' },
  },
};

/** GET /sessions, Profile A. */
export class ListSessionsQueryA {
  @ApiPropertyOptional({ enum: STATUS_FILTERS_A, default: 'active' })
  @Optional()
  @IsIn(STATUS_FILTERS_A, { message: `must be one of ${STATUS_FILTERS_A.join(', ')}` })
  status: StatusFilterA = 'active';

  @QueryCount(50, MAX_PER_PAGE)
  limit = 50;

  @QueryCount(0)
  offset = 0;
}

/** Reports an unknown channel and an unknown agent together with everything else that is wrong with a new session. */
@Injectable()
export class SessionRequestChecksA implements OnModuleInit {
  constructor(
    private readonly checks: FurtherChecks,
    private readonly sessions: SessionsService,
  ) {}

  onModuleInit(): void {
    this.checks.add(CreateSessionRequestA, namesCheck(this.sessions));
  }
}
