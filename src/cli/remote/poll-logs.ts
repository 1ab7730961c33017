import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal } from '../command-context.js';
import { isRefusal } from './follow.js';
import { type GatewayClient, RemoteFailure } from './gateway-client.js';

/** A line of the log, of either profile. */
export interface LogEntry {
  readonly timestamp: string;
  readonly level: string;
  readonly module?: string;
  readonly component?: string;
  readonly message: string;
  readonly session_id?: string;
}

interface Polled {
  readonly client: Pick<GatewayClient, 'get'>;
  readonly query: Readonly<Record<string, string>>;
  readonly show: (entry: LogEntry) => void;
  readonly terminal: Pick<Terminal, 'err'>;
  readonly signal: AbortSignal;
  readonly pauseMs?: number;
}

/** What was shown. */
interface Shown {
  /** Lines before this are not requested. */
  readonly first: string;
  readonly last: string;
  /** Lines that may come again. */
  readonly lines: ReadonlySet<string>;
}

/** A port of Profile A has no stream, so it is polled. */
const POLL_MS = 1000;
const MOST_POLLED = 1000;
/** Lines of other replicas may be stored this much later than newer ones. */
const LATE_MS = 10_000;

/**
 * Shows each line of the log once, and continues with new ones until the signal, also after a gateway could not be
 * reached or asked to wait. Rejects when the first request fails, or any request is refused.
 */
export async function pollLogs(polled: Polled): Promise<void> {
  const { query, show, terminal, signal, pauseMs = POLL_MS } = polled;
  let isFirst = true;
  let shown: Shown | undefined;
  while (!signal.aborted) {
    const asked =
      shown === undefined ? query : { ...query, since: sinceOf(shown), limit: String(MOST_POLLED) };
    const entries = await asking(polled, asked, isFirst);
    isFirst = false;
    if (shown !== undefined && isCut(entries, shown))
      terminal.err(`[lines are missing here: there were more than ${MOST_POLLED}]\n`);
    for (const entry of entries) if (!shown?.lines.has(JSON.stringify(entry))) show(entry);
    shown = shownAfter(entries, shown);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function sinceOf({ first, last }: Shown): string {
  const late = new Date(Date.parse(last) - LATE_MS).toISOString();
  return late > first ? late : first;
}

/** Whether the response begins after the last line that was shown, because it has no room for more. */
function isCut(entries: readonly LogEntry[], { last }: Shown): boolean {
  const [oldest] = entries;
  return oldest !== undefined && entries.length >= MOST_POLLED && oldest.timestamp > last;
}

function shownAfter(entries: readonly LogEntry[], before: Shown | undefined): Shown | undefined {
  const oldest = entries[0]?.timestamp;
  const newest = entries.at(-1)?.timestamp;
  if (oldest === undefined || newest === undefined) return before;
  return {
    first: before?.first ?? oldest,
    last: before !== undefined && before.last > newest ? before.last : newest,
    lines: new Set(entries.map((entry) => JSON.stringify(entry))),
  };
}

/** Lines written while the gateway could not be asked come with the next response. */
async function asking(
  { client }: Polled,
  query: Readonly<Record<string, string>>,
  isFirst: boolean,
): Promise<readonly LogEntry[]> {
  try {
    return (await client.get<{ entries: LogEntry[] }>('/api/v1/logs', query)).entries;
  } catch (error) {
    if (isFirst || !(error instanceof RemoteFailure) || isRefusal(error)) throw error;
    return [];
  }
}
