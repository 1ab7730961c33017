import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { sentenceOf } from '../../../common/errors/sentence-of.js';
import { type OnRefused, type RefusedMessage, refusal } from './bounded-message.js';
import type { ChildCommand } from './child-command.js';
import { GroupedChild } from './child-process.js';
import { FlowLimit } from './flow-limit.js';
import { LineSplitter } from './line-splitter.js';
import { MessageLines } from './message-lines.js';
import { RecentOutput } from './recent-output.js';

const MAX_UNREAD_BYTES = 16 * 1_048_576;
const MAX_ERROR_LINE_BYTES = 65_536;
const MAX_FLOW = { bytes: 16 * 1_048_576, lines: 2000 };
/** A program that writes so many lines without one message among them is no MCP server. */
const MAX_GARBAGE_LINES = 1000;

/** Takes the lines that a child writes beside its messages. */
export type ChildOutput = (line: string) => void;

/**
 * MCP over the standard streams of a child: one message per line. The child leads a group of its own, is read no faster
 * than `MAX_FLOW`, and is gone when `close` resolves.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** How the child ended, or what it did that ended the connection; undefined while all is well. */
  fault: string | undefined;
  private readonly stderrTail = new RecentOutput();
  private child: GroupedChild | undefined;
  private flow: FlowLimit | undefined;
  private garbage = 0;
  private closed = false;

  constructor(
    private readonly command: ChildCommand,
    private readonly talk: ChildOutput,
    private readonly onRefused: OnRefused,
  ) {}

  /** What it said last on standard error that tells what is wrong. */
  get recentOutput(): string | undefined {
    return this.stderrTail.summary;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  start(): Promise<void> {
    const child = new GroupedChild(this.command);
    this.child = child;
    const { stdout, stderr } = child.process;
    if (stdout === null || stderr === null) throw new Error('The child has no standard streams.');
    const messages = new MessageLines();
    this.flow = new FlowLimit(stdout, MAX_FLOW);
    stdout.on('data', (chunk: Buffer) => this.read(messages, chunk));
    this.readStderr(stderr);
    void child.ended.then((how) => this.over(how));
    return Promise.resolve();
  }

  /** Throws when the child is gone or has left too much unread; otherwise whoever waits for the answer waits. */
  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.child?.process.stdin;
    if (this.closed || !stdin?.writable) return Promise.reject(new Error('The child is gone.'));
    if (stdin.writableLength > MAX_UNREAD_BYTES)
      return Promise.reject(new Error('The child does not read what it is sent.'));
    stdin.write(serializeMessage(message));
    return Promise.resolve();
  }

  /** Lets the child end by itself first, unless it did something that ended the connection. */
  async close(): Promise<void> {
    const { fault } = this;
    this.over('it was stopped');
    await (fault === undefined ? this.child?.end() : this.child?.kill());
  }

  private read(messages: MessageLines, chunk: Buffer): void {
    if (this.closed) return;
    try {
      const lines = messages.push(chunk);
      this.flow?.count(chunk.length, lines.length);
      for (const line of lines) this.onLine(line);
    } catch (error) {
      this.breakOff(sentenceOf(error));
    }
  }

  private onLine(line: string | RefusedMessage): void {
    if (typeof line !== 'string') {
      this.refuse(line);
      return;
    }
    if (line.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      this.garbage += 1;
      this.talk(`not a message on standard output: ${line}`);
      if (this.garbage > MAX_GARBAGE_LINES)
        throw new Error(`It wrote ${MAX_GARBAGE_LINES} lines that are no messages.`);
      return;
    }
    this.garbage = 0;
    this.onmessage?.(message);
  }

  /** Whoever waits for an answer that was not read is told so. */
  private refuse({ id, reason }: RefusedMessage): void {
    this.onRefused(reason);
    if (id !== undefined) this.onmessage?.(refusal(id, reason));
  }

  private readStderr(stderr: NodeJS.ReadableStream & { pause(): unknown }): void {
    const lines = new LineSplitter(MAX_ERROR_LINE_BYTES);
    stderr.on('data', (chunk: Buffer) => {
      try {
        for (const line of lines.push(chunk)) this.onStderrLine(line);
      } catch {
        this.talk('a line too long to keep');
      }
    });
  }

  private onStderrLine(line: string): void {
    if (line.trim() === '') return;
    this.stderrTail.add(line);
    this.talk(line);
  }

  private breakOff(fault: string): void {
    this.over(fault);
    void this.child?.kill();
  }

  private over(how: string): void {
    if (this.closed) return;
    this.closed = true;
    this.fault = how;
    this.flow?.stop();
    this.onclose?.();
  }
}
