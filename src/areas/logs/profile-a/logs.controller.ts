import { Get, Query } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import { MAX_PER_PAGE, Optional, QueryCount, Word } from '../../../http/validation/field.decorator.js';
import { Since } from '../../../http/validation/since.decorator.js';
import { type LogEntry, type LogPage, LogStore } from '../../../platform/logging/log.store.js';
import { LOG_LEVELS, type LogLevel } from '../../../platform/logging/logger.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { refuseNarrowCaller } from '../wire/refuse-narrow-caller.js';

const LOG_LEVELS_A = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevelA = (typeof LOG_LEVELS_A)[number];

/** GET /logs, Profile A (docs/specification/api.md, 4.1). */
class ListLogsQueryA {
  @ApiPropertyOptional({ enum: LOG_LEVELS_A, default: 'debug', description: 'Minimum level' })
  @Optional()
  @IsIn(LOG_LEVELS_A, { message: `must be one of ${LOG_LEVELS_A.join(', ')}` })
  level: LogLevelA = 'debug';

  @QueryCount(100, MAX_PER_PAGE)
  limit = 100;

  @Optional()
  @Since('everything that is kept when left out')
  since?: Date;

  @ApiPropertyOptional({ description: 'A part of the gateway, such as `agent`; defaults to all' })
  @Optional()
  @Word()
  component?: string;
}

/** A log entry of Profile A (docs/specification/silences.md, Logs). */
class LogEntryViewA {
  @ApiProperty({ format: 'date-time', description: 'With milliseconds' })
  timestamp!: string;

  @ApiProperty({ enum: LOG_LEVELS })
  level!: LogLevel;

  @ApiProperty({ example: 'agent', description: 'The part of the gateway that wrote it' })
  component!: string;

  @ApiProperty()
  message!: string;

  @ApiPropertyOptional({ description: 'Present when it was written for a session' })
  session_id?: string;
}

class LogListViewA {
  @ApiProperty({ type: [LogEntryViewA], description: 'Oldest first; the newest ones when more match' })
  entries!: LogEntryViewA[];

  @ApiProperty({ type: 'integer', description: 'Counts the filter, not the page' })
  total!: number;
}

function presentLogEntryA(entry: LogEntry): LogEntryViewA {
  const { timestamp, level, module, message, sessionId } = entry;
  return {
    timestamp: timestamp.toISOString(),
    level,
    component: componentOf(module),
    message,
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
  };
}

function presentLogListA({ entries, total }: LogPage): LogListViewA {
  return { entries: entries.map(presentLogEntryA), total };
}

/** The first segment: `agent::turn` is written by `agent`. */
function componentOf(module: string): string {
  const end = module.indexOf('::');
  return end === -1 ? module : module.slice(0, end);
}

/** Logs in Profile A (docs/specification/api.md, 4.1). */
@ProfileAController('logs')
export class LogsControllerA {
  constructor(private readonly logs: LogStore) {}

  @Get()
  @Does('List log entries', 'Of all replicas, oldest first; when more match than `limit`, the newest ones.')
  @RequireScope('logs:read')
  @Answers(200, 'Log entries of all replicas, oldest first', LogListViewA)
  async list(@Query() query: ListLogsQueryA, @CurrentCaller() caller: Caller): Promise<LogListViewA> {
    refuseNarrowCaller(caller);
    const { level: minLevel, component: module, since, limit } = query;
    return presentLogListA(await this.logs.list({ minLevel, module }, since ?? new Date(0), limit));
  }
}
