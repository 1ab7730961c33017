import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { outsideLogContext } from '../../platform/logging/log-context.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { addressGroup } from '../guards/address-group.js';

const WINDOW_MS = 60_000;
/** Callers that are told apart within a window; what comes from others is summed as one. */
const MAX_CALLERS = 1000;

const REFUSALS = [401, 403, 429] as const;
type RefusalStatus = (typeof REFUSALS)[number];

/** Whoever was refused: the id of the API token when it is known, and the address that is charged for it. */
export interface Refused {
  readonly token?: string | undefined;
  readonly address: string;
}

interface Sum {
  readonly status: RefusalStatus;
  readonly who: Readonly<{ token?: string; address?: string }>;
  /** Since the line that told the first of them. */
  count: number;
}

/** Whether an answer with this status is summed here, for each caller, instead of getting a line of its own. */
export function isRefusalStatus(status: number): status is RefusalStatus {
  return (REFUSALS as readonly number[]).includes(status);
}

/**
 * Logins, scopes and rates that were refused, at warn: the first of a caller at once, the others summed once a minute, so
 * that a flood is a line. A caller is an API token or, where there is none, an address (IPv6 by its /64).
 */
@Injectable()
export class RefusalLog implements OnModuleDestroy {
  private readonly logger: Logger;
  private readonly sums = new Map<string, Sum>();
  private timer: NodeJS.Timeout | undefined;

  constructor(logs: Logs) {
    this.logger = logs.for('gateway::refusals');
  }

  onModuleDestroy(): void {
    clearTimeout(this.timer);
    this.logSums();
  }

  /** Call it with whatever is answered: all but 401, 403 and 429 is passed over. */
  note(error: GatewayError, refused: Refused): void {
    const { status } = error;
    if (!isRefusalStatus(status)) return;
    const who =
      refused.token === undefined ? { address: addressGroup(refused.address) } : { token: refused.token };
    const key = `${status} ${who.token ?? who.address}`;
    const known = this.sums.get(key);
    if (known !== undefined) known.count += 1;
    else if (this.sums.size < MAX_CALLERS) this.openWindow(key, { status, who, count: 0 }, error);
    else this.noteOther(status);
  }

  private openWindow(key: string, sum: Sum, error: GatewayError): void {
    this.sums.set(key, sum);
    this.logger.warn(`${SUBJECT[sum.status]} ${fromWhom(sum)}: ${error.message}`, {
      ...sum.who,
      status: sum.status,
    });
    this.timer ??= outsideLogContext(() => setTimeout(() => this.endWindow(), WINDOW_MS).unref());
  }

  /** Bounded: one further entry for each status. */
  private noteOther(status: RefusalStatus): void {
    const sum = this.sums.get(`${status}`);
    if (sum === undefined) this.sums.set(`${status}`, { status, who: {}, count: 1 });
    else sum.count += 1;
  }

  private endWindow(): void {
    this.timer = undefined;
    this.logSums();
  }

  private logSums(): void {
    for (const sum of this.sums.values()) {
      if (sum.count === 0) continue;
      const { status, who, count } = sum;
      const sentence = `${count} more: ${SUBJECT[status]} ${fromWhom(sum)}, within ${WINDOW_MS / 1000} s`;
      this.logger.warn(sentence, { ...who, status, count });
    }
    this.sums.clear();
  }
}

const SUBJECT: Readonly<Record<RefusalStatus, string>> = {
  401: 'login refused',
  403: 'request refused with 403',
  429: 'request refused with 429',
};

function fromWhom({ who }: Sum): string {
  if (who.token !== undefined) return `for token ${who.token}`;
  return who.address === undefined ? 'from many other callers' : `from ${who.address}`;
}
