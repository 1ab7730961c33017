import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { LogEntry, LogPage } from '../log-entry.js';
import { LOG_LEVELS, type LogLevel } from '../log-level.js';

/** A log entry of Profile B (specification 2.10). */
export class LogEntryViewB {
  @ApiProperty({ format: 'date-time', description: 'With milliseconds' })
  timestamp!: string;

  @ApiProperty({ enum: LOG_LEVELS })
  level!: LogLevel;

  @ApiProperty({ example: 'agent::turn' })
  module!: string;

  @ApiProperty()
  message!: string;

  @ApiPropertyOptional({ description: 'Present when it was written for a session' })
  session_id?: string;
}

export class LogListViewB {
  @ApiProperty({ type: [LogEntryViewB], description: 'Oldest first; the newest ones when more match' })
  entries!: LogEntryViewB[];

  @ApiProperty({ type: 'integer', description: 'Counts the filter, not the page' })
  total!: number;
}

export function presentLogEntryB(entry: LogEntry): LogEntryViewB {
  const { timestamp, level, module, message, sessionId } = entry;
  return {
    timestamp: timestamp.toISOString(),
    level,
    module,
    message,
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
  };
}

export function presentLogListB({ entries, total }: LogPage): LogListViewB {
  return { entries: entries.map(presentLogEntryB), total };
}
