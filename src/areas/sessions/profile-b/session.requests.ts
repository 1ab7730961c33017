import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import {
  FreeObject,
  MAX_PER_PAGE,
  Optional,
  QueryCount,
  TextLength,
  Word,
} from '../../../http/validation/field.decorator.js';
import { FurtherChecks } from '../../../http/validation/further-checks.js';
import { SESSION_STATUSES, type SessionStatus } from '../session-status.js';
import { SessionsService } from '../sessions.service.js';
import { namesCheck } from '../wire/session.shared.js';

/** The words of the list filter in Profile B, which are the core's. */
export const STATUS_FILTERS_B = SESSION_STATUSES;
export type StatusFilterB = SessionStatus;

/** POST /sessions, Profile B (docs/specification/api.md, 2.1). */
export class CreateSessionRequestB {
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

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Free-form; at most 16 KiB',
  })
  @Optional()
  @FreeObject(16_384)
  metadata?: Record<string, unknown>;
}

/** Each can be sent as it is. */
export const CREATE_EXAMPLES_B = {
  empty: { summary: 'A session with all defaults', value: {} },
  labelled: {
    summary: 'A session for a user, with metadata',
    value: { channel: 'api', user_id: 'ada', metadata: { ticket: 'HELP-17' } },
  },
};

/** GET /sessions, Profile B. */
export class ListSessionsQueryB {
  @ApiPropertyOptional({ enum: STATUS_FILTERS_B, default: 'active' })
  @Optional()
  @IsIn(STATUS_FILTERS_B, { message: `must be one of ${STATUS_FILTERS_B.join(', ')}` })
  status: StatusFilterB = 'active';

  @ApiPropertyOptional({ description: 'Defaults to all channels' })
  @Optional()
  @Word()
  channel?: string;

  @QueryCount(50, MAX_PER_PAGE)
  limit = 50;

  @QueryCount(0)
  offset = 0;
}

/** Reports an unknown channel and an unknown agent together with everything else that is wrong with a new session. */
@Injectable()
export class SessionRequestChecksB implements OnModuleInit {
  constructor(
    private readonly checks: FurtherChecks,
    private readonly sessions: SessionsService,
  ) {}

  onModuleInit(): void {
    this.checks.add(CreateSessionRequestB, namesCheck(this.sessions));
  }
}
