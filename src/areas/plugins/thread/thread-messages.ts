import type { MessagePort } from 'node:worker_threads';

/** The `workerData` of a plugin's thread. */
export interface ThreadStart {
  readonly module: Uint8Array<ArrayBuffer>;
  readonly grants: Grants;
  readonly config: Readonly<Record<string, string>>;
  /** Limit of the host's buffers, in bytes. */
  readonly bufferBytes: number;
  /** HTTP responses arrive here, so that the thread can wait for them in the middle of a call. */
  readonly httpAnswers: MessagePort;
  /** One 32-bit counter, incremented when a response has arrived. */
  readonly httpSignal: SharedArrayBuffer;
}

/** The permissions of a plugin; it may not import anything else. */
export interface Grants {
  readonly config: boolean;
  readonly kv: boolean;
  readonly log: boolean;
  readonly http: boolean;
}

/** To the thread: call the export `call` with this input. */
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

/** From the thread. Its first answer, to being started, is the output of `describe`. */
export type ThreadMessage =
  | { readonly kind: 'answer'; readonly output: string; readonly memoryBytes: number }
  | { readonly kind: 'problem'; readonly problem: string; readonly memoryBytes: number }
  | { readonly kind: 'log'; readonly level: PluginLogLevel; readonly text: string }
  | { readonly kind: 'http'; readonly request: HttpRequest };
