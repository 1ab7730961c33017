import { ApiProperty } from '@nestjs/swagger';
import { Count, isoOrNull, Moment, MomentOrNull, TextOrNull } from '../../../http/paging/page-view.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { grants, type Scope } from '../../../platform/tokens/scopes.js';
import type { TurnBucket } from '../../turns/turns.api.js';
import { ATTENTION_KINDS, type Attention } from '../attention.service.js';
import { type HealthPart, PART_STATUSES, type PartStatus } from '../health-part.js';
import type { Overview } from '../overview.service.js';
import type { HealthStatus } from '../status.service.js';

class HealthPartView {
  @ApiProperty({ example: 'database' })
  name!: string;

  @ApiProperty({ enum: [...PART_STATUSES] })
  status!: PartStatus;

  @ApiProperty()
  detail!: string;

  @TextOrNull('What to do about it; null while it is well')
  advice!: string | null;
}

class HealthView {
  @ApiProperty({ enum: ['healthy', 'degraded', 'unhealthy'] })
  status!: HealthStatus;

  @ApiProperty()
  version!: string;

  @Count('Of the replica that answers')
  uptime_secs!: number;

  @ApiProperty({ type: [HealthPartView] })
  parts!: HealthPartView[];
}

class NowView {
  @Count()
  sessions_active!: number;

  @Count('Active or idle')
  sessions_live!: number;

  @Count()
  turns_running!: number;

  @Count()
  turns_waiting!: number;

  @Count()
  approvals_pending!: number;
}

class TurnTotalsView {
  @Count()
  turns!: number;

  @Count('Failed or interrupted')
  failed!: number;

  @Count()
  input_tokens!: number;

  @Count()
  output_tokens!: number;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars; null when nothing of it is priced, and without `usage:read`',
  })
  cost_usd!: number | null;
}

class TurnBucketView extends TurnTotalsView {
  @Moment('When this piece of time begins')
  at!: string;
}

class AttentionView {
  @ApiProperty({ enum: [...ATTENTION_KINDS] })
  kind!: Attention['kind'];

  @ApiProperty({ description: 'Empty for approvals, which are counted together' })
  name!: string;

  @ApiProperty()
  text!: string;

  @MomentOrNull()
  since!: string | null;

  @Count()
  count!: number;
}

export class OverviewView {
  @Moment('The beginning of the first piece of time')
  since!: string;

  @Moment()
  until!: string;

  @Count()
  bucket_secs!: number;

  @Moment('Later than `since` when there were too many turns to count them all')
  complete_since!: string;

  @ApiProperty()
  health!: HealthView;

  @ApiProperty()
  now!: NowView;

  @ApiProperty({ description: 'Of the whole time' })
  totals!: TurnTotalsView;

  @ApiProperty({ type: [TurnBucketView], description: 'Oldest first, also where there were no turns' })
  series!: TurnBucketView[];

  @ApiProperty({
    type: [AttentionView],
    description: 'What needs a person, of the areas that the caller may read',
  })
  attention!: AttentionView[];
}

/** What the caller may read elsewhere is shown here too, and nothing else. */
const NEEDED: Readonly<Record<Attention['kind'], Scope>> = {
  approval: 'approvals:read',
  budget: 'usage:read',
  channel: 'channels:read',
  hook: 'hooks:read',
  mcp_server: 'mcp:read',
  tool_quarantine: 'mcp:read',
};

const NEEDED_FOR_PART: Readonly<Record<string, Scope>> = {
  channels: 'channels:read',
  'tool servers': 'mcp:read',
  webhooks: 'hooks:read',
  limits: 'usage:read',
  tokens: 'tokens:read',
};

/** The part that is the same for all callers, as this one may see it. */
export function presentOverview(overview: Overview, { scopes }: Pick<Caller, 'scopes'>): OverviewView {
  const { health, now } = overview;
  const seesCost = grants(scopes, 'usage:read');
  const buckets = seesCost
    ? overview.buckets
    : overview.buckets.map((bucket) => ({ ...bucket, cost_usd: null }));
  const attention = overview.attention.filter(({ kind }) => grants(scopes, NEEDED[kind]));
  return {
    since: overview.since.toISOString(),
    until: new Date().toISOString(),
    bucket_secs: overview.bucketSecs,
    complete_since: overview.completeSince.toISOString(),
    health: {
      status: health.status,
      version: health.version,
      uptime_secs: health.uptimeSecs,
      parts: health.parts.map((part) => presentPart(part, scopes)),
    },
    now: {
      sessions_active: now.sessionsActive,
      sessions_live: now.sessionsLive,
      turns_running: now.turnsRunning,
      turns_waiting: now.turnsWaiting,
      approvals_pending: now.approvalsPending,
    },
    totals: totalsOf(buckets),
    series: buckets.map(presentBucket),
    attention: attention.map(({ kind, name, text, since, count }) => ({
      ...{ kind, name, text, count },
      since: isoOrNull(since),
    })),
  };
}

/** Only callers that may read an area see which of its parts fail; everybody sees that something fails. */
function presentPart({ name, status, detail, advice }: HealthPart, scopes: Caller['scopes']): HealthPartView {
  const needed = NEEDED_FOR_PART[name];
  const isShown = status === 'ok' || needed === undefined || grants(scopes, needed);
  return { name, status, detail: isShown ? detail : `what it is takes the scope ${needed}`, advice };
}

function presentBucket(bucket: TurnBucket): TurnBucketView {
  const { at, turns, failed, input_tokens, output_tokens, cost_usd } = bucket;
  return { at: at.toISOString(), turns, failed, input_tokens, output_tokens, cost_usd };
}

function totalsOf(buckets: readonly TurnBucket[]): TurnTotalsView {
  const sum = (key: 'turns' | 'failed' | 'input_tokens' | 'output_tokens'): number =>
    buckets.reduce((total, bucket) => total + bucket[key], 0);
  const priced = buckets.flatMap(({ cost_usd: cost }) => cost ?? []);
  return {
    turns: sum('turns'),
    failed: sum('failed'),
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
    cost_usd: priced.length === 0 ? null : priced.reduce((total, cost) => total + cost, 0),
  };
}
