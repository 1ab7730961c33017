import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { LogEntry, LogPage } from '../../../platform/logging/log-entry.js';
import { LOG_LEVELS, type LogLevel } from '../../../platform/logging/logger.js';

/** A log entry of Profile A (docs/specification/silences.md, Logs). */
export class LogEntryViewA {
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

export class LogListViewA {
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

export function presentLogListA({ entries, total }: LogPage): LogListViewA {
  return { entries: entries.map(presentLogEntryA), total };
}

/** The first segment: `agent::turn` is written by `agent`. */
function componentOf(module: string): string {
  const end = module.indexOf('::');
  return end === -1 ? module : module.slice(0, end);
}
