import { join } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { packageRoot } from '../../../common/package-root.js';
import { PluginProblem } from '../plugin.js';
import type { PluginPackage } from '../plugin-package.js';
import type {
  HttpOutcome,
  HttpRequest,
  PluginLogLevel,
  ThreadMessage,
  ThreadStart,
} from './thread-messages.js';

/** A thread always runs the built program, also when the gateway runs from its sources. */
const THREAD_PROGRAM = join(packageRoot(), 'dist', 'bundle', 'plugin-thread.cjs');

/** Why a thread was terminated. */
export type EndReason = 'timeout' | 'memory' | 'crash';

/** What a thread may ask of the gateway. */
export interface PluginHost {
  log(level: PluginLogLevel, text: string): void;
  /** Never rejects; ends promptly when the signal is aborted. */
  http(request: HttpRequest, signal: AbortSignal): Promise<HttpOutcome>;
  /** The thread was terminated. */
  ended(reason: EndReason): void;
}

interface Waiting {
  readonly resolve: (output: string) => void;
  readonly reject: (problem: Error) => void;
}

const MAX_BUFFER_BYTES = 16_777_216;
/** For the thread's own JavaScript; the memory of the module is not part of it. */
const HEAP = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8, codeRangeSizeMb: 32, stackSizeMb: 4 };

/** One worker thread with one plugin. It runs one call at a time and is terminated when a call exceeds its time limit. */
export class PluginThread {
  /** As of its last answer, in bytes; 0 after its end. */
  memoryBytes = 0;
  private waiting: Waiting | undefined;
  private work = new AbortController();
  private gone: Error | undefined;

  private constructor(
    private readonly worker: Worker,
    private readonly answers: MessagePort,
    private readonly httpSignal: Int32Array,
    private readonly host: PluginHost,
  ) {
    worker.on('message', (message: ThreadMessage) => this.onMessage(message));
    worker.on('error', (error) => this.lost(error));
    worker.on('exit', () => this.end(new PluginProblem('its thread has ended')));
  }

  /** @returns the thread, and the output of `describe`. Throws `PluginProblem` */
  static async start(
    pack: PluginPackage,
    host: PluginHost,
  ): Promise<{ thread: PluginThread; described: string }> {
    const { port1, port2 } = new MessageChannel();
    const httpSignal = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const { config, kv, log, net } = pack.manifest.permissions;
    const start: ThreadStart = {
      module: pack.module,
      grants: { config, kv, log, http: net.http.length > 0 },
      config: pack.config,
      bufferBytes: Math.min(pack.memoryBytes, MAX_BUFFER_BYTES),
      httpAnswers: port2,
      httpSignal,
    };
    const worker = new Worker(THREAD_PROGRAM, {
      workerData: start,
      transferList: [port2],
      resourceLimits: HEAP,
      ...{ env: {}, argv: [], execArgv: [], stdout: true, stderr: true },
    });
    const thread = new PluginThread(worker, port1, new Int32Array(httpSignal), host);
    try {
      return { thread, described: await thread.within(pack.loadTimeoutMs, 'did not start') };
    } catch (error) {
      await thread.stop();
      throw error;
    }
  }

  get isGone(): boolean {
    return this.gone !== undefined;
  }

  /** Runs one call; the caller waits before the next. Throws `PluginProblem`; after a timeout the thread is gone by then. */
  call(input: string, timeoutMs: number): Promise<string> {
    this.worker.postMessage({ input });
    return this.within(timeoutMs, 'did not answer');
  }

  async stop(): Promise<void> {
    this.end(new PluginProblem('it was stopped'));
    await this.worker.terminate();
  }

  private async within(timeoutMs: number, what: string): Promise<string> {
    if (this.gone !== undefined) throw this.gone;
    this.work = new AbortController();
    const limit = setTimeout(() => void this.overrun(timeoutMs, what), timeoutMs);
    try {
      return await new Promise<string>((resolve, reject) => {
        this.waiting = { resolve, reject };
      });
    } finally {
      clearTimeout(limit);
      this.waiting = undefined;
      this.work.abort();
    }
  }

  /** V8 stops the thread anywhere, even in an endless loop; the caller gets its error when the thread is gone. */
  private async overrun(timeoutMs: number, what: string): Promise<void> {
    const { waiting } = this;
    this.waiting = undefined;
    this.host.ended('timeout');
    await this.worker.terminate();
    waiting?.reject(new PluginProblem(`it ${what} within ${timeoutMs} ms and was terminated`));
  }

  private onMessage(message: ThreadMessage): void {
    if (message.kind === 'log') this.host.log(message.level, message.text);
    else if (message.kind === 'http') void this.http(message.request);
    else this.onAnswer(message);
  }

  private onAnswer(message: Extract<ThreadMessage, { kind: 'answer' | 'problem' }>): void {
    this.memoryBytes = message.memoryBytes;
    if (message.kind === 'answer') this.waiting?.resolve(message.output);
    else this.waiting?.reject(new PluginProblem(message.problem));
  }

  private async http(request: HttpRequest): Promise<void> {
    const outcome = await this.host.http(request, this.work.signal);
    if (this.isGone) return;
    this.answers.postMessage(outcome);
    Atomics.add(this.httpSignal, 0, 1);
    Atomics.notify(this.httpSignal, 0);
  }

  private lost(error: unknown): void {
    const isMemory = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    this.host.ended(isMemory ? 'memory' : 'crash');
    const why = isMemory ? 'needed more memory than it has' : `failed: ${sentenceOf(error).slice(0, 200)}`;
    this.end(new PluginProblem(`its thread ${why} and was terminated`));
  }

  private end(why: Error): void {
    this.gone ??= why;
    this.memoryBytes = 0;
    this.waiting?.reject(why);
    this.answers.close();
  }
}
