import type { Client } from '@modelcontextprotocol/client';
import type { Logger } from '../../../platform/logging/logger.js';
import { ChildOutputLog } from '../transport/child-output.js';

/** The protocol's levels, which are syslog's. */
const LEVELS: Readonly<Record<string, keyof Logger>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};

const MAX_NAME = 100;

interface LogParts {
  readonly logger: Logger;
  readonly redact: (text: string) => string;
}

/** Writes what a server logs over the protocol to the log of the gateway, bounded like the output of a child. */
export function logWhatItSays(client: Client, { logger, redact }: LogParts): void {
  const bounded = new ChildOutputLog(logger, redact);
  client.setNotificationHandler('notifications/message', ({ params }) => {
    const { level, logger: name, data } = params;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    bounded.write(name === undefined ? text : `${name.slice(0, MAX_NAME)}: ${text}`, LEVELS[level] ?? 'info');
  });
}
