import { type ReactNode, useSyncExternalStore } from 'react';

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const CLOCK_MS = 20_000;

/** How long ago, with the exact time on hover. */
export function Ago({ at }: { readonly at: string | null | undefined }): ReactNode {
  const now = useSyncExternalStore(everySoOften, minuteNow);
  if (at === null || at === undefined) return <span className="muted">never</span>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {agoText(Date.parse(at), now)}
    </time>
  );
}

function everySoOften(changed: () => void): () => void {
  const timer = setInterval(changed, CLOCK_MS);
  return () => clearInterval(timer);
}

const minuteNow = (): number => Math.ceil(Date.now() / CLOCK_MS) * CLOCK_MS;

function agoText(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return seconds <= 0 ? 'just now' : 'in a moment';
}

export function exactTime(at: string): string {
  return absolute.format(new Date(at));
}

export function clockTime(at: string): string {
  return clock.format(new Date(at));
}

export function count(value: number): string {
  return whole.format(value);
}

export function compact(value: number): string {
  return Math.abs(value) < 10_000 ? whole.format(value) : short.format(value);
}

/** Null means that there is no known price, which is not the same as zero. */
export function money(value: number | null): string {
  if (value === null) return 'no price';
  const digits = value !== 0 && Math.abs(value) < 1 ? 4 : 2;
  return `$${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
}

export function duration(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return spanOf(ms / 1000);
}

export function spanOf(seconds: number): string {
  const [days, hours, minutes] = [seconds / 86_400, (seconds % 86_400) / 3600, (seconds % 3600) / 60].map(
    Math.floor,
  );
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min` : `${Math.floor(seconds)} s`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  return value < 1_048_576 ? `${(value / 1024).toFixed(1)} KiB` : `${(value / 1_048_576).toFixed(1)} MiB`;
}

/** JSON for people; long texts scroll. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }): ReactNode {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return <Output text={text} label={label} />;
}

const SHOWN_CHARACTERS = 20_000;

export function Output({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const cut = text.length > SHOWN_CHARACTERS;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className="output" aria-label={label} tabIndex={0}>
      <pre>
        {cut
          ? `${text.slice(0, SHOWN_CHARACTERS)}\n… ${count(text.length - SHOWN_CHARACTERS)} more characters`
          : text}
      </pre>
    </section>
  );
}
