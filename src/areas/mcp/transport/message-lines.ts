import { BoundedMessage, MAX_MESSAGE_BYTES, type RefusedMessage } from './bounded-message.js';
import { LineTooLong } from './line-splitter.js';

const NEWLINE = 10;
/** So much of one line is passed over before its writer counts as one that never ends it. */
const MAX_PASSED_OVER = 64 * 1_048_576;

/**
 * Cuts a stream of bytes into lines, each a message or what was refused of one. A line past the bounds is passed over to
 * its end, so that its writer can go on.
 */
export class MessageLines {
  private readonly line = new BoundedMessage();
  private hasMessages = false;

  /**
   * What this chunk finished. Throws `LineTooLong` for a line that goes on without end; before the first line there
   * is no answer that could be so large, so that the bound is that of a message.
   */
  push(chunk: Buffer): (string | RefusedMessage)[] {
    const lines: (string | RefusedMessage)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.append(chunk.subarray(start, end));
      lines.push(this.flush());
      start = end + 1;
    }
    this.append(chunk.subarray(start));
    return lines;
  }

  private append(piece: Buffer): void {
    this.line.push(piece);
    const most = this.hasMessages ? MAX_PASSED_OVER : MAX_MESSAGE_BYTES;
    if (this.line.size > most) throw new LineTooLong(most);
  }

  private flush(): string | RefusedMessage {
    this.hasMessages = true;
    const line = this.line.end();
    if (!Buffer.isBuffer(line)) return line;
    const text = line.toString('utf8');
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  }
}
