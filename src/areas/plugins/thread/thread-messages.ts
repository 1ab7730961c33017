import type { MessagePort } from 'node:worker_threads';

/** What a thread is started with. */
export interface ThreadStart {
  readonly module: Uint8Array<ArrayBuffer>;
  readonly grants: Grants;
  readonly config: Readonly<Record<string, string>>;
  /** Most bytes of the host's buffers. */
  readonly bufferBytes: number;
  /** Answers to HTTP requests come here, so that a thread can wait for them in the middle of a call. */
  readonly httpAnswers: MessagePort;
  /** One 32-bit number, which is changed when an answer has come. */
  readonly httpSignal: SharedArrayBuffer;
}

/** What a plugin was granted; everything else it may not import. */
export interface Grants {
  readonly config: boolean;
  readonly kv: boolean;
  readonly log: boolean;
  readonly http: boolean;
}

/** To a thread: call the export `call` with this input. */
export interface CallOrder {
  readonly input: string;
}

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export type HttpOutcome =
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
    }
  | { readonly problem: string };

export type PluginLogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** From a thread. The first answer is to being started: the output of `describe`. */
export type ThreadMessage =
  | { readonly kind: 'answer'; readonly output: string; readonly memoryBytes: number }
  | { readonly kind: 'problem'; readonly problem: string; readonly memoryBytes: number }
  | { readonly kind: 'log'; readonly level: PluginLogLevel; readonly text: string }
  | { readonly kind: 'http'; readonly request: HttpRequest };
