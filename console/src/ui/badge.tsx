import type { ReactNode } from 'react';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  ok: 'good',
  healthy: 'good',
  connected: 'good',
  running: 'info',
  awaiting_approval: 'info',
  loaded: 'good',
  approved: 'good',
  allowed: 'good',
  completed: 'good',
  delivered: 'good',
  success: 'good',
  idle: 'quiet',
  terminated: 'quiet',
  disabled: 'quiet',
  cancelled: 'quiet',
  pending: 'info',
  waiting: 'info',
  warning: 'warn',
  degraded: 'warn',
  cooling: 'warn',
  reconnecting: 'warn',
  quarantined: 'warn',
  warn: 'warn',
  timeout: 'warn',
  interrupted: 'warn',
  failing: 'bad',
  unhealthy: 'bad',
  failed: 'bad',
  failure: 'bad',
  error: 'bad',
  denied: 'bad',
  refused: 'bad',
  disconnected: 'bad',
  inactive: 'bad',
  revoked: 'quiet',
  expired: 'quiet',
};

/**
 * The name of a state, as the API has it but without underscores. Its colour repeats the meaning and never carries it
 * alone.
 */
export function Badge({ children, tone }: { readonly children: string; readonly tone?: Tone }): ReactNode {
  return (
    <span className={`badge badge-${tone ?? TONES[children] ?? 'quiet'}`}>
      {children.replaceAll('_', ' ')}
    </span>
  );
}
