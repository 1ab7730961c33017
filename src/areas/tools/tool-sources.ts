import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** How long to wait for a source that has begun to connect. */
const LONGEST_COMING_MS = 5000;
/** How long to wait for the gateway's own part: its database is away, or busy. A statement may take 30 s by default. */
const LONGEST_TAKING_MS = 60_000;
const POLL_MS = 50;

/**
 * The state of a source of tools. `taking`: it has listed its tools, and the gateway still has to compare them with the
 * approved ones. `settled`: its tools are available, or it has failed.
 */
export type SourceState = 'not_begun' | 'coming' | 'taking' | 'settled';

interface Source {
  readonly state: () => SourceState;
  comingSince?: number;
  takingSince?: number | undefined;
  /** If it is lost later, turns continue without its tools. */
  wasSettled?: true;
}

/**
 * Whether the tools of this process are available. Turns wait for that: a turn that runs too early after a start, or while
 * only the gateway's own database holds tools back, would continue without them.
 */
@Injectable()
export class ToolSources {
  private readonly sources: Source[] = [];

  expect(state: () => SourceState): void {
    this.sources.push({ state });
  }

  get areSettled(): boolean {
    const now = performance.now();
    // No short cut: the clock of each source starts when it is first looked at.
    return this.sources.filter((source) => !isDone(source, now)).length === 0;
  }

  /** Resolves when they are; throws the signal's reason when it is aborted. */
  async settled(signal: AbortSignal): Promise<void> {
    while (!this.areSettled) {
      await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      signal.throwIfAborted();
    }
  }
}

function isDone(source: Source, now: number): boolean {
  const state = source.state();
  source.takingSince = state === 'taking' ? (source.takingSince ?? now) : undefined;
  if (source.takingSince !== undefined) return now - source.takingSince > LONGEST_TAKING_MS;
  if (state === 'coming') source.comingSince ??= now;
  const isLate = state === 'coming' && now - (source.comingSince ?? now) > LONGEST_COMING_MS;
  if (state === 'settled' || isLate) source.wasSettled = true;
  return source.wasSettled === true;
}
