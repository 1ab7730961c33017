import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { sentenceOf } from '../../../common/errors/error-text.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { type OnRefused, type RefusedMessage, refusal } from './bounded-message.js';
import { FlowLimit, LineSplitter, lastLines, MessageLines } from './child-lines.js';
import { RecentOutput } from './child-output.js';
import { type ChildCommand, GroupedChild } from './child-process.js';

const MAX_UNREAD_BYTES = 16 * 1_048_576;
const MAX_ERROR_LINE_BYTES = 65_536;
const MAX_FLOW = { bytes: 16 * 1_048_576, lines: 2000 };
/** Of standard error: more than a program says that is read by people. */
const MAX_ERROR_FLOW = { bytes: 2 * 1_048_576, lines: 5000 };
/** Of what standard error brings at once; only the last lines are looked at, which tell why a program ends. */
const MAX_ERROR_LINES = 100;
/** A program that writes this many lines in a row without a message is not an MCP server. */
const MAX_GARBAGE_LINES = 1000;
/** The most ids of unanswered requests that are remembered, cancelled ones included. */
const MAX_OPEN_REQUESTS = 1000;

/** Called with each line that a child writes and that is not a message. */
export type OnChildOutput = (line: string) => void;

/**
 * MCP over the standard streams of a child: one message a line. The child leads a process group of its own, is read no
 * faster than `MAX_FLOW` (a second), and is gone when `close` resolves.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** How the child ended, or what it did that ended the connection; undefined while it runs. */
  fault: string | undefined;
  private readonly stderrTail = new RecentOutput();
  private child: GroupedChild | undefined;
  private readonly flows: FlowLimit[] = [];
  private garbage = 0;
  /** Ids of requests without a response so far. Cancelled ones stay, because the child may have started to answer. */
  private readonly unanswered = new Set<string | number>();
  private closed = false;

  constructor(
    private readonly command: ChildCommand,
    private readonly onOutput: OnChildOutput,
    private readonly onRefused: OnRefused,
  ) {}

  /** The line of its standard error that best says what is wrong. */
  get recentOutput(): string | undefined {
    return this.stderrTail.summary;
  }

  /** Where the child works: its working folder, if it has one of its own, and what it may write to. */
  folders({ writable_paths: writable }: Pick<McpServerSettings, 'writable_paths'>): readonly string[] {
    const { folder } = this.command;
    return [
      ...new Set([...(folder === undefined ? [] : [folder]), ...writable.map((path) => resolve(path))]),
    ];
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  start(): Promise<void> {
    const child = new GroupedChild(this.command);
    this.child = child;
    const { stdout, stderr } = child.process;
    if (stdout === null || stderr === null) throw new Error('The child has no standard streams.');
    const messages = new MessageLines(() => this.onlyRequest());
    const flow = new FlowLimit(stdout, MAX_FLOW);
    this.flows.push(flow);
    stdout.on('data', (chunk: Buffer) => this.read(messages, chunk, flow));
    this.readStderr(stderr);
    void child.ended.then((how) => this.over(how));
    return Promise.resolve();
  }

  /** Rejects when the child is gone or has left more than 16 MiB unread. */
  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.child?.process.stdin;
    if (this.closed || !stdin?.writable) return Promise.reject(new Error('The child is gone.'));
    if (stdin.writableLength > MAX_UNREAD_BYTES)
      return Promise.reject(new Error('The child does not read what it is sent.'));
    if ('method' in message && 'id' in message) this.remember(message.id);
    stdin.write(serializeMessage(message));
    return Promise.resolve();
  }

  /** Lets the child end by itself first, unless it broke the connection. */
  async close(): Promise<void> {
    const { fault } = this;
    this.over('it was stopped');
    await (fault === undefined ? this.child?.end() : this.child?.kill());
  }

  private read(messages: MessageLines, chunk: Buffer, flow: FlowLimit): void {
    if (this.closed) return;
    try {
      const lines = messages.push(chunk);
      flow.count(chunk.length, lines.length);
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
      this.onOutput(`not a message on standard output: ${line}`);
      if (this.garbage > MAX_GARBAGE_LINES)
        throw new Error(`it wrote ${MAX_GARBAGE_LINES} lines that are no messages`);
      return;
    }
    this.garbage = 0;
    this.deliver(message);
  }

  /** Answers the waiting call with an error in place of the refused response. */
  private refuse({ id, reason }: RefusedMessage): void {
    this.onRefused(reason);
    if (id !== undefined) this.deliver(refusal(id, reason));
  }

  private deliver(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.unanswered.delete(message.id);
    this.onmessage?.(message);
  }

  private remember(id: string | number): void {
    const [oldest] = this.unanswered;
    if (oldest !== undefined && this.unanswered.size >= MAX_OPEN_REQUESTS) this.unanswered.delete(oldest);
    this.unanswered.add(id);
  }

  private onlyRequest(): string | number | undefined {
    const [first] = this.unanswered;
    return this.unanswered.size === 1 ? first : undefined;
  }

  private readStderr(stderr: Readable): void {
    const lines = new LineSplitter(MAX_ERROR_LINE_BYTES);
    const flow = new FlowLimit(stderr, MAX_ERROR_FLOW);
    this.flows.push(flow);
    stderr.on('data', (chunk: Buffer) => {
      const last = lastLines(chunk, MAX_ERROR_LINES);
      if (last.length < chunk.length) {
        lines.clear();
        this.onOutput('lines on standard error were left out: there were too many at once');
      }
      const complete = lines.push(last);
      flow.count(chunk.length, complete.length);
      for (const line of complete) this.onStderrLine(line);
    });
  }

  private onStderrLine(line: string | undefined): void {
    if (line === undefined) {
      this.onOutput('a line on standard error is too long and was left out');
      return;
    }
    if (line.trim() === '') return;
    this.stderrTail.add(line);
    this.onOutput(line);
  }

  private breakOff(fault: string): void {
    this.over(fault);
    void this.child?.kill();
  }

  private over(how: string): void {
    if (this.closed) return;
    this.closed = true;
    this.fault = how;
    for (const flow of this.flows) flow.stop();
    this.onclose?.();
  }
}
