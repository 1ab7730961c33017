import { Injectable } from '@nestjs/common';
import { refuseSomeAgents } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { SessionsService } from '../sessions/sessions.api.js';
import { ToolApprovalRecords } from '../tools/tools.api.js';
import { type TurnBucket, TurnSeries } from '../turns/turns.api.js';
import { type Attention, AttentionList } from './attention.service.js';
import type { HealthPart } from './health-part.js';
import { HealthParts } from './health-parts.service.js';
import { type Health, type HealthStatus, StatusService } from './status.service.js';

/** What the gateway did over a while. */
export interface OverviewSeries {
  readonly since: Date;
  readonly bucketSecs: number;
  /** Later than `since` when there were too many turns to count them all. */
  readonly completeSince: Date;
  /** One for each interval, oldest first, also without turns. */
  readonly buckets: readonly TurnBucket[];
}

/** The present state. */
export interface OverviewState {
  readonly health: Health & { readonly parts: readonly HealthPart[] };
  readonly attention: readonly Attention[];
  readonly now: {
    readonly sessionsActive: number;
    readonly sessionsLive: number;
    readonly turnsRunning: number;
    readonly turnsWaiting: number;
    readonly approvalsPending: number;
  };
}

export interface Overview extends OverviewSeries, OverviewState {}

const DAY_SECS = 86_400;
const WIDTHS_SECS = [60, 300, 900, 3600, 21_600, DAY_SECS, 7 * DAY_SECS, 30 * DAY_SECS] as const;
const MOST_BUCKETS = 120;
const MAX_AGE_SECS = MOST_BUCKETS * 30 * DAY_SECS;
/** Requests within this time get the same result, so that many consoles cost no more than one. */
const FRESH_MS = 2000;
/** The most windows that are remembered. */
const MOST_WINDOWS = 16;

interface Remembered<Value> {
  readonly atMs: number;
  readonly value: Promise<Value>;
}

/** What an operator sees first: whether all is well, what happens, and what needs a person. */
@Injectable()
export class OverviewService {
  private readonly windows = new Map<string, Remembered<OverviewSeries>>();
  private state: Remembered<OverviewState> | undefined;

  constructor(
    private readonly series: TurnSeries,
    private readonly parts: HealthParts,
    private readonly attention: AttentionList,
    private readonly approvals: ToolApprovalRecords,
    private readonly sessions: SessionsService,
    private readonly status: StatusService,
  ) {}

  /** It covers all users and agents: throws `AgentNotAllowed` for callers that may use only some. */
  async since(since: Date, caller: Caller): Promise<Overview> {
    refuseSomeAgents('the overview is', caller);
    const [series, state] = await Promise.all([this.window(since), this.current()]);
    return { ...series, ...state };
  }

  private current(): Promise<OverviewState> {
    if (this.state === undefined || !isFresh(this.state))
      this.state = { atMs: performance.now(), value: this.look() };
    return this.state.value;
  }

  private window(since: Date): Promise<OverviewSeries> {
    const nowMs = Date.now();
    const ageSecs = Math.min(Math.max(60, (nowMs - since.getTime()) / 1000), MAX_AGE_SECS);
    const width = WIDTHS_SECS.find((secs) => ageSecs / secs <= MOST_BUCKETS) ?? 30 * DAY_SECS;
    const fromSecs = Math.floor((nowMs / 1000 - ageSecs) / width) * width;
    const key = `${fromSecs}/${width}`;
    const known = this.windows.get(key);
    if (known !== undefined && isFresh(known)) return known.value;
    for (const [other, one] of this.windows) if (!isFresh(one)) this.windows.delete(other);
    const value = this.count(fromSecs, width, nowMs);
    if (this.windows.size < MOST_WINDOWS) this.windows.set(key, { atMs: performance.now(), value });
    return value;
  }

  private async count(fromSecs: number, width: number, nowMs: number): Promise<OverviewSeries> {
    const since = new Date(fromSecs * 1000);
    const { buckets, completeSince } = await this.series.since(since, width);
    const found = new Map(buckets.map((bucket) => [bucket.at.getTime(), bucket]));
    const filled: TurnBucket[] = [];
    for (let atMs = since.getTime(); atMs <= nowMs; atMs += width * 1000)
      filled.push(found.get(atMs) ?? { ...NOTHING, at: new Date(atMs) });
    return { since, bucketSecs: width, completeSince, buckets: filled };
  }

  private async look(): Promise<OverviewState> {
    const [health, parts, attention, turns, approvals, live, active] = await Promise.all([
      this.status.health(),
      this.parts.all(),
      this.attention.all(),
      this.series.now(),
      this.approvals.waiting(),
      this.sessions.count({ status: 'live' }),
      this.sessions.count({ status: 'active' }),
    ]);
    const now = {
      sessionsActive: active,
      sessionsLive: live,
      turnsRunning: turns.running,
      turnsWaiting: turns.waiting,
      approvalsPending: approvals.count,
    };
    return { health: { ...health, status: overall(health, parts), parts }, attention, now };
  }
}

const NOTHING = { turns: 0, failed: 0, input_tokens: 0, output_tokens: 0, cost_usd: null };

function isFresh({ atMs }: Remembered<unknown>): boolean {
  return performance.now() - atMs < FRESH_MS;
}

/** Degraded: requests are answered, but something does not work. */
function overall({ status }: Health, parts: readonly HealthPart[]): HealthStatus {
  if (status !== 'healthy') return status;
  return parts.every((part) => part.status !== 'failing') ? 'healthy' : 'degraded';
}
