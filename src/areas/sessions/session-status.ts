import type { GatewaySettings } from '../../platform/settings/settings.schema.js';

export const SESSION_STATUSES = ['active', 'idle', 'terminated'] as const;

/** The core's words, which are Profile B's too (docs/specification/api.md, 3). */
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** Seconds of silence after which a session is idle, and after which it has ended. */
export interface IdleLimits {
  readonly idleSecs: number;
  readonly timeoutSecs: number;
}

export interface RecordedStatus {
  readonly recorded: SessionStatus;
  /** Silence is counted from here; lies ahead of the clock while a turn runs. */
  readonly quietSince: Date;
}

/**
 * The status of a session at `nowMs`: silence moves it from active to idle and from both to terminated, never back.
 * Only a message makes an idle session active again, and it records that.
 */
export function statusAt(
  { recorded, quietSince }: RecordedStatus,
  nowMs: number,
  limits: IdleLimits,
): SessionStatus {
  const inactiveMs = nowMs - quietSince.getTime();
  if (recorded === 'terminated' || inactiveMs >= limits.timeoutSecs * 1000) return 'terminated';
  if (recorded === 'idle' || inactiveMs >= limits.idleSecs * 1000) return 'idle';
  return 'active';
}

export function idleLimits(agent: GatewaySettings['agent']): IdleLimits {
  return { idleSecs: agent.session_idle_secs, timeoutSecs: agent.session_timeout_secs };
}
