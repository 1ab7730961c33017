import { receiveMessageOnPort } from 'node:worker_threads';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { ExtismHost } from './extism-host.js';
import { PluginInstance } from './plugin-instance.js';
import type { HttpOutcome, HttpRequest, ThreadMessage, ThreadStart } from './thread-messages.js';

/** The program in the thread of a plugin: it answers every order once, with the plugin's output or a problem. */
export class PluginProgram {
  private readonly host: ExtismHost;
  private readonly httpSignal: Int32Array;
  private instance: PluginInstance | undefined;

  constructor(
    private readonly start: ThreadStart,
    private readonly send: (message: ThreadMessage) => void,
  ) {
    this.httpSignal = new Int32Array(start.httpSignal);
    this.host = new ExtismHost(start.bufferBytes, start.grants, new Map(Object.entries(start.config)), {
      log: (level, text) => this.send({ kind: 'log', level, text }),
      http: (request) => this.http(request),
    });
  }

  run(name: 'describe' | 'call', input: string): void {
    try {
      this.instance ??= PluginInstance.compile(this.start.module, this.host, this.start.grants);
      const output = this.instance.run(name, input);
      this.send({ kind: 'answer', output, memoryBytes: this.memoryBytes });
    } catch (error) {
      this.send({ kind: 'problem', problem: sentenceOf(error), memoryBytes: this.memoryBytes });
    }
  }

  private get memoryBytes(): number {
    return this.instance?.memoryBytes ?? 0;
  }

  /** Blocks the thread while the gateway makes the request. */
  private http(request: HttpRequest): HttpOutcome {
    const before = Atomics.load(this.httpSignal, 0);
    this.send({ kind: 'http', request });
    Atomics.wait(this.httpSignal, 0, before);
    const received = receiveMessageOnPort(this.start.httpAnswers) as { message: HttpOutcome } | undefined;
    return received?.message ?? { problem: 'the request brought no answer' };
  }
}
