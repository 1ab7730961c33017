import type { GatewayError } from '../../common/errors/gateway-error.js';
import type { Message } from './message.js';
import type { TurnEvent } from './turn.js';

/** What followers of a turn are shown; the last event is `done` or `error`. */
export type LiveEvent =
  | Exclude<TurnEvent, { type: 'usage' }>
  | { readonly type: 'done'; readonly message: Message }
  | { readonly type: 'error'; readonly error: GatewayError };

/** Where in a turn an event ends: characters of text, and events other than text, counted from the turn's beginning. */
export interface TurnPosition {
  readonly chars: number;
  readonly steps: number;
}

/** The step of `done` and of `error`: a reader who has seen it has seen the whole turn. */
export const LAST_STEP = 999_999;
export const TURN_START: TurnPosition = { chars: 0, steps: 0 };

export function isLast(event: LiveEvent): boolean {
  return event.type === 'done' || event.type === 'error';
}

/** When a reader is behind, consecutive tokens are combined up to this many characters. */
const MAX_MERGED_CHARS = 16_384;

/** Reads a turn at its own speed. */
export interface TurnReader {
  /** There is more to read. */
  wake(): void;
  /** Whether it can take nothing more at the moment. */
  readonly isFull: boolean;
}

interface Entry extends TurnPosition {
  readonly event: LiveEvent;
}

/**
 * Everything that one turn has said so far, for readers at any position. It grows with the turn, which the limits of
 * `[agent]` bound; readers hold no copy. When all readers are behind, the turn waits.
 */
export class LiveTurn {
  private readonly entries: Entry[] = [];
  private readonly readers = new Set<TurnReader>();
  private waiting: (() => void)[] = [];
  private position = TURN_START;
  private abandoned: (() => void) | undefined;

  constructor(
    readonly sessionId: string,
    readonly turnId: string,
    signal?: AbortSignal,
    private elsewhere = false,
  ) {
    signal?.addEventListener('abort', () => this.goOn(), { once: true });
  }

  /** Whether another replica runs it, so that it continues without this one. */
  get isElsewhere(): boolean {
    return this.elsewhere;
  }

  get hasReaders(): boolean {
    return this.readers.size > 0;
  }

  /** Called once the last reader has left. */
  onAbandoned(listener: () => void): void {
    this.abandoned = () => {
      this.abandoned = undefined;
      listener();
    };
  }

  /** It no longer runs here, but continues elsewhere. */
  leave(): void {
    this.elsewhere = true;
  }

  get length(): number {
    return this.entries.length;
  }

  get isOver(): boolean {
    const last = this.entries.at(-1);
    return last !== undefined && isLast(last.event);
  }

  get end(): TurnPosition {
    return this.position;
  }

  /** Notifies the readers. A returned promise makes the turn wait until one of them can take more, or has left. */
  publish(event: LiveEvent): Promise<void> | undefined {
    this.position = after(this.position, event);
    const { chars, steps } = this.position;
    this.entries.push({ chars, steps, event });
    for (const reader of this.readers) reader.wake();
    return this.isHeldBack() && !isLast(event)
      ? new Promise((resolve) => this.waiting.push(resolve))
      : undefined;
  }

  /** The next event after entry `index`, with consecutive tokens combined, and the entry to continue with. */
  read(index: number): Entry & { readonly next: number } {
    const first = this.entry(index);
    if (first.event.type !== 'token') return { ...first, next: index + 1 };
    let { text } = first.event;
    let next = index + 1;
    for (; next < this.entries.length && text.length < MAX_MERGED_CHARS; next += 1) {
      const { event } = this.entry(next);
      if (event.type !== 'token') break;
      text += event.text;
    }
    return { ...this.entry(next - 1), event: { type: 'token', text }, next };
  }

  /** The first entry after this position. */
  indexAfter({ chars, steps }: TurnPosition): number {
    const index = this.entries.findIndex((entry) => isAfter(entry, { chars, steps }));
    return index === -1 ? this.entries.length : index;
  }

  /** The text of the last attempt, from its beginning. */
  text(): string {
    const last = this.entries.findLastIndex(({ event }) => event.type === 'restarted');
    return this.entries
      .slice(last + 1)
      .map(({ event }) => (event.type === 'token' ? event.text : ''))
      .join('');
  }

  /** @returns a function that removes the reader */
  join(reader: TurnReader): () => void {
    this.readers.add(reader);
    return () => {
      this.readers.delete(reader);
      this.caughtUp();
      if (this.readers.size === 0) this.abandoned?.();
    };
  }

  /** A reader can take more again. */
  caughtUp(): void {
    if (!this.isHeldBack()) this.goOn();
  }

  private entry(index: number): Entry {
    const entry = this.entries[index];
    if (entry === undefined) throw new RangeError(`The turn has no entry ${index} yet.`);
    return entry;
  }

  private isHeldBack(): boolean {
    if (this.readers.size === 0) return false;
    for (const { isFull } of this.readers) if (!isFull) return false;
    return true;
  }

  private goOn(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

/** Each attempt counts its characters from 0, and its steps from its own multiple of this number. */
const STEPS_PER_ATTEMPT = 10_000;
const MAX_ATTEMPT = Math.floor(LAST_STEP / STEPS_PER_ATTEMPT) - 1;

/** The position behind this many characters of an attempt. */
export function positionInAttempt(attempt: number, chars: number): TurnPosition {
  return { chars, steps: attempt < 2 ? 0 : Math.min(attempt, MAX_ATTEMPT) * STEPS_PER_ATTEMPT };
}

/** More characters than an attempt says. */
const CHARS_PER_ATTEMPT = 10_000_000;

/** The position as one number below 10^9, however the text was cut into events. It grows along the turn, up to its 98th attempt. */
export function positionNumber({ chars, steps }: TurnPosition): number {
  const within = Math.min(chars + (steps % STEPS_PER_ATTEMPT), CHARS_PER_ATTEMPT - 1);
  return attemptOf({ steps }) * CHARS_PER_ATTEMPT + within;
}

function isAfter(entry: TurnPosition, { chars, steps }: TurnPosition): boolean {
  const attempts = attemptOf(entry) - attemptOf({ steps });
  return attempts > 0 || (attempts === 0 && (entry.chars > chars || entry.steps > steps));
}

function attemptOf({ steps }: Pick<TurnPosition, 'steps'>): number {
  return Math.floor(steps / STEPS_PER_ATTEMPT);
}

function after({ chars, steps }: TurnPosition, event: LiveEvent): TurnPosition {
  if (event.type === 'restarted') {
    return { chars: 0, steps: Math.min(event.attempt, MAX_ATTEMPT) * STEPS_PER_ATTEMPT };
  }
  if (event.type === 'token') return { chars: chars + event.text.length, steps };
  return { chars, steps: isLast(event) ? LAST_STEP : steps + 1 };
}
