import { WireFault } from './wire-fault.js';

export interface ServerEvent {
  /** Empty when the event names none. */
  readonly event: string;
  readonly data: string;
}

/** Most characters of a stream without a complete event. */
const MAX_PENDING_CHARS = 4 * 1024 * 1024;
const LINE_END = /\r\n|\n|\r/;

/** Cuts text into server-sent events, in time linear in its length however it is chopped. */
export class ServerEventParser {
  /** True when the last `push` completed a line, be it a mere comment. */
  sawLine = false;
  private partial: string[] = [];
  private pendingChars = 0;
  private afterReturn = false;
  private event = '';
  private data: string[] = [];

  /** Throws a `too_large` fault when events stay away for too long. */
  push(chunk: string): ServerEvent[] {
    const text = this.afterReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') this.afterReturn = chunk.endsWith('\r');
    const lines = text.split(LINE_END);
    const rest = lines.pop() ?? '';
    this.sawLine = lines.length > 0;
    const events = lines.flatMap((line) => this.addLine(line) ?? []);
    if (rest !== '') this.partial.push(rest);
    this.pendingChars = events.length > 0 ? rest.length : this.pendingChars + text.length;
    if (this.pendingChars > MAX_PENDING_CHARS) throw new WireFault({ kind: 'too_large', what: 'event' });
    return events;
  }

  /** The event that only lacks its blank line at the end of the stream; half an event is none. */
  end(): ServerEvent | undefined {
    if (this.partial.length > 0) this.addLine('');
    const last = this.addLine('');
    return last !== undefined && isWhole(last.data) ? last : undefined;
  }

  private addLine(tail: string): ServerEvent | undefined {
    const line = this.partial.length === 0 ? tail : this.partial.join('') + tail;
    this.partial = [];
    if (line === '') return this.dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.event = value;
    if (field === 'data') this.data.push(value);
    return undefined;
  }

  private dispatch(): ServerEvent | undefined {
    const complete = this.data.length > 0 ? { event: this.event, data: this.data.join('\n') } : undefined;
    this.event = '';
    this.data = [];
    return complete;
  }
}

function isWhole(data: string): boolean {
  if (data === '[DONE]') return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
