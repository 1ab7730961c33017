import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import { outsideLogContext } from '../../platform/logging/log-context.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { addressGroup } from '../guards/client-address.js';

const WINDOW_MS = 60_000;
/** Callers with an entry of their own within a window; the others share one. */
const MAX_CALLERS = 1000;

const REFUSALS = [401, 403, 429] as const;
type RefusalStatus = (typeof REFUSALS)[number];

/** Who was refused: the id of the API token when known, and the address charged for the request. */
export interface Refused {
  readonly token?: string | undefined;
  readonly address: string;
}

interface Sum {
  readonly status: RefusalStatus;
  readonly who: Readonly<{ token?: string; address?: string }>;
  /** Refusals since the line about the first one. */
  count: number;
  total: number;
}

/** Whether refusals with this status are summed here by caller instead of each getting a line in the access log. */
export function isRefusalStatus(status: number): status is RefusalStatus {
  return (REFUSALS as readonly number[]).includes(status);
}

/**
 * Logs refused logins, scopes and rates at warn: the first of a caller at once, the others as one sum a minute, so that
 * a flood gives few lines. Refused logins are audited as sums, too. A caller is an API token or, without one, an address (IPv6 by its /64).
 */
@Injectable()
export class RefusalLog implements OnModuleDestroy {
  private readonly logger: Logger;
  private readonly sums = new Map<string, Sum>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly audit: AuditLog,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway::refusals');
  }

  async onModuleDestroy(): Promise<void> {
    clearTimeout(this.timer);
    await this.endSums();
  }

  /** Takes every error that is sent to a caller; ignores all but 401, 403 and 429. */
  note(error: GatewayError, refused: Refused): void {
    const { status } = error;
    if (!isRefusalStatus(status)) return;
    const who =
      refused.token === undefined ? { address: addressGroup(refused.address) } : { token: refused.token };
    const key = `${status} ${who.token ?? who.address}`;
    const known = this.sums.get(key);
    if (known !== undefined) countOne(known);
    else if (this.sums.size < MAX_CALLERS) this.openWindow(key, { status, who, count: 0, total: 1 }, error);
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

  /** At most one further entry for each status. */
  private noteOther(status: RefusalStatus): void {
    const sum = this.sums.get(`${status}`);
    if (sum === undefined) this.sums.set(`${status}`, { status, who: {}, count: 1, total: 1 });
    else countOne(sum);
  }

  private endWindow(): void {
    this.timer = undefined;
    void this.endSums();
  }

  private async endSums(): Promise<void> {
    const ended = [...this.sums.values()];
    this.sums.clear();
    this.logSums(ended);
    for (const sum of ended) if (sum.status === 401) await this.auditLogins(sum);
  }

  private logSums(sums: readonly Sum[]): void {
    for (const sum of sums) {
      if (sum.count === 0) continue;
      const { status, who, count } = sum;
      const sentence = `${count} more: ${SUBJECT[status]} ${fromWhom(sum)}, within ${WINDOW_MS / 1000} s`;
      this.logger.warn(sentence, { ...who, status, count });
    }
  }

  /** One entry a minute for each caller, so that a flood fills no table. */
  private auditLogins({ who, total }: Sum): Promise<void> {
    return this.audit.record({
      action: 'login.failed',
      actor: 'unknown',
      ...(who.address === undefined ? {} : { address: who.address }),
      target: who.token ?? who.address ?? 'many addresses',
      outcome: 'refused',
      details: { count: total },
    });
  }
}

function countOne(sum: Sum): void {
  sum.count += 1;
  sum.total += 1;
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
