import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { type DescribedChannel, stream } from '../../../http/openapi/asyncapi.js';
import type { LogEntry, LogPage } from '../../../platform/logging/log.store.js';
import { LOG_LEVELS, type LogLevel } from '../../../platform/logging/logger.js';
import { EntryFormat, type Gap } from '../stream/sse-frames.js';

/** A log entry of Profile B (docs/specification/api.md, 2.10). */
class LogEntryViewB {
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

/** Lines that a reader of the stream misses here. */
class LogGapView {
  @ApiProperty({
    enum: ['slow_reader', 'expired', 'unknown_id'],
    description:
      '`slow_reader`: the stream was cut because its reader took nothing; `expired`: the lines are no longer kept; ' +
      '`unknown_id`: the last id is none of ours',
  })
  reason!: Gap['reason'];

  @ApiProperty({ type: 'integer', nullable: true, description: 'How many lines, when that can be known' })
  lines!: number | null;

  @ApiProperty({ description: 'False when a reconnect with the id of this event still brings them' })
  lost!: boolean;
}

/** The kinds of events of a log stream, with what each carries. */
export const LOG_EVENTS_B = { log: LogEntryViewB, gap: LogGapView } as const;

export class LogListViewB {
  @ApiProperty({ type: [LogEntryViewB], description: 'Oldest first; the newest ones when more match' })
  entries!: LogEntryViewB[];

  @ApiProperty({ type: 'integer', description: 'Counts the filter, not the page' })
  total!: number;
}

function presentLogEntryB(entry: LogEntry): LogEntryViewB {
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

/** Streamed entries look like listed ones. */
export class EntryFormatB extends EntryFormat {
  present(entry: LogEntry): object {
    return presentLogEntryB(entry);
  }
}

/** The log as it is written, over Server-Sent Events. Only Profile B has it. */
export function logStream(): DescribedChannel {
  return stream('logEvents', LOG_EVENTS_B, {
    address: '/api/v1/logs/stream',
    title: 'The log as it is written',
    description:
      'The kind is the `event`, the payload the `data`, and every event has an `id` for `Last-Event-ID`. ' +
      '`GET /api/v1/logs?stream=true` shows the same, after the lines that there are.',
  });
}
