import { setTimeout as sleep } from 'node:timers/promises';
import type { TurnFleet } from './turn-fleet.js';

const LOOK_MS = 150;

interface Orphan {
  readonly turn: string;
  readonly take_ups: number;
  readonly at: Date;
}

interface Pauses {
  readonly turns: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** How long turns stood still after the death of their replica, by the database's clock. */
export class DeathWatch {
  private readonly orphans: Orphan[] = [];
  /** When each attempt of each turn began. */
  private readonly attempts = new Map<string, Date>();
  private isOver = false;
  private looking: Promise<void> | undefined;

  constructor(private readonly fleet: TurnFleet) {}

  start(): void {
    this.looking = this.look();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.looking;
  }

  /** Called when the process has just died. */
  async died(pid: number): Promise<void> {
    const orphans = await this.fleet.query<Orphan>(
      `SELECT id AS turn, take_ups, clock_timestamp() AS at FROM turns
       WHERE status = 'running' AND owner LIKE '%:' || $1 || ':%'`,
      [String(pid)],
    );
    this.orphans.push(...orphans);
  }

  /** Seconds from a death until another replica took the turn. */
  takeUps(): Pauses {
    return summed(
      this.orphans.flatMap(({ turn, take_ups, at }) => {
        const taken = this.attempts.get(keyOf(turn, take_ups + 1));
        return taken === undefined ? [] : [(taken.getTime() - at.getTime()) / 1000];
      }),
    );
  }

  /**
   * Seconds from a death to the next stored step, or to the end. When the next replica died before that, the last
   * death counts.
   */
  async nextSteps(): Promise<Pauses> {
    const rows = await this.fleet.query<{ turn: string; at: Date; next: Date | null }>(
      `SELECT orphan.at, orphan.turn, least(turns.ended_at,
         (SELECT min(created_at) FROM turn_steps WHERE turn_id = turns.id AND created_at > orphan.at)) AS next
       FROM unnest($1::text[], $2::timestamptz[]) AS orphan (turn, at) JOIN turns ON turns.id = orphan.turn`,
      [this.orphans.map(({ turn }) => turn), this.orphans.map(({ at }) => at.toISOString())],
    );
    return summed(
      rows.flatMap(({ turn, at, next }) => {
        if (next === null || this.diedBetween(turn, at, next)) return [];
        return [(next.getTime() - at.getTime()) / 1000];
      }),
    );
  }

  private diedBetween(turn: string, from: Date, to: Date): boolean {
    return this.orphans.some((other) => other.turn === turn && other.at > from && other.at < to);
  }

  private async look(): Promise<void> {
    while (!this.isOver) {
      const rows = await this.fleet
        .query<{ id: string; take_ups: number; attempt_at: Date }>(
          `SELECT id, take_ups, attempt_at FROM turns WHERE attempt_at > now() - interval '10 seconds'`,
        )
        .catch(() => []);
      for (const { id, take_ups, attempt_at } of rows) this.attempts.set(keyOf(id, take_ups), attempt_at);
      await sleep(LOOK_MS);
    }
  }
}

function keyOf(turn: string, takeUps: number): string {
  return `${turn} ${takeUps}`;
}

function summed(pauses: readonly number[]): Pauses {
  const sorted = [...pauses].sort((a, b) => a - b);
  const at = (share: number) => Math.round((sorted[Math.ceil(sorted.length * share) - 1] ?? 0) * 100) / 100;
  return { turns: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}
