const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const BLANK = 0x20;
/** A name or an id that is longer than this is none that is looked for. */
const MAX_WORD_LENGTH = 64;

/**
 * Reads one JSON-RPC message as its bytes arrive, without parsing or keeping it: how many values it has, how deep they
 * are nested, and whose answer it is. Text around the message, such as the field names of an event stream, is passed over.
 */
export class MessageScan {
  /** Commas and opening brackets: as many as there are values, or a few more. */
  values = 0;
  deepest = 0;
  /** Whether it has a method: it is a request or a notification and no answer. */
  isCall = false;
  private depth = 0;
  private isInText = false;
  /** Whether the text so far ends with a backslash that escapes what follows. */
  private isEscaping = false;
  private literal = '';
  private key = '';
  private rawId = '';

  /** The id that the message names; undefined when it names none, or none that is a number or short text. */
  get id(): string | number | undefined {
    try {
      const id: unknown = JSON.parse(this.rawId);
      return typeof id === 'string' || typeof id === 'number' ? id : undefined;
    } catch {
      return undefined;
    }
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.isInText) at = this.passText(bytes, at);
      else this.passMark(bytes[at] ?? BLANK);
    }
  }

  /** @returns where the text ends, or these bytes do */
  private passText(bytes: Uint8Array, start: number): number {
    let from = start;
    for (;;) {
      const quote = bytes.indexOf(QUOTE, from);
      const end = quote === -1 ? bytes.length : quote;
      const isEscaped = this.endsEscaping(bytes, from, end);
      this.scan(bytes, from, end);
      this.isEscaping = quote === -1 && isEscaped;
      if (quote === -1) return end;
      if (!isEscaped) {
        this.isInText = false;
        if (this.depth === 1 && this.key === 'id') this.rawId = JSON.stringify(this.literal);
        return end;
      }
      from = end + 1;
    }
  }

  /** Whether an odd number of backslashes stands before `end`. */
  private endsEscaping(bytes: Uint8Array, start: number, end: number): boolean {
    let at = end;
    while (at > start && bytes[at - 1] === BACKSLASH) at -= 1;
    const isOdd = (end - at) % 2 === 1;
    return at === start && this.isEscaping ? !isOdd : isOdd;
  }

  private scan(bytes: Uint8Array, start: number, end: number): void {
    if (this.depth !== 1 || this.literal.length > MAX_WORD_LENGTH) return;
    const last = Math.min(end, start + MAX_WORD_LENGTH + 1);
    this.literal += String.fromCharCode(...bytes.subarray(start, last));
  }

  private passMark(byte: number): void {
    switch (byte) {
      case 0x7b:
      case 0x5b:
        this.depth += 1;
        this.values += 1;
        if (this.depth > this.deepest) this.deepest = this.depth;
        return;
      case 0x7d:
      case 0x5d:
        this.depth -= 1;
        return;
      case QUOTE:
        this.isInText = this.depth > 0;
        this.literal = '';
        return;
      case COMMA:
        this.values += 1;
        if (this.depth === 1) this.key = '';
        return;
      case COLON:
        this.name();
        return;
      default:
        this.spell(byte);
    }
  }

  private spell(byte: number): void {
    if (this.depth === 1 && this.key === 'id' && byte > BLANK && this.rawId.length < MAX_WORD_LENGTH)
      this.rawId += String.fromCharCode(byte);
  }

  private name(): void {
    if (this.depth !== 1) return;
    this.key = this.literal;
    if (this.key === 'id') this.rawId = '';
    if (this.key === 'method') this.isCall = true;
  }
}
