import { type DescribedChannel, stream } from '../../../http/asyncapi/messages.js';
import { LOG_EVENTS_B } from './log.views.js';

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
