import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  type Client,
  ProtocolError,
  ProtocolErrorCode,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  specTypeSchemas,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { PausableTimer } from '../../../platform/runtime/pausable-timer.js';
import type { RunningCall } from '../../tools/tools.api.js';
import { isSessionGone, McpToolFailed, refusalInBody, TASK_UNANSWERED, TASK_UNKNOWN } from './mcp-failure.js';

const MAX_ID = 1024;
/** The bounds of the pause between polls of a task, in milliseconds, whatever its server wants. */
const MIN_POLL_MS = 250;
const MAX_POLL_MS = 30_000;
const DEFAULT_POLL_MS = 1000;
/** The longer a task runs, the less often it is polled: the pause is at least this part of the time it has run. */
const POLL_SHARE = 50;
/** More polls than even a call of an hour, the longest, can make. */
const MAX_POLLS = 2000;
/**
 * How much longer than the call's time-out a server keeps a task: a gateway that was stopped needs time to come back.
 */
const SPARE_TTL_MS = 900_000;
const NO_TURN_TTL_MS = 3_600_000;
const CANCEL_MS = 5000;
const PING_MS = 5000;
/**
 * How often in a row a server that responds may fail to say what became of a task; each retry comes a second later than
 * the one before.
 */
const MAX_FAILURES = 8;
const FAILURE_PAUSE_MS = 1000;
/** Viewers see at most one status in so many milliseconds. */
const SHOW_MS = 600;
/** The server's silence ends a call, not the library's own time-out. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

const TASK = z.looseObject({
  taskId: z.string().min(1).max(MAX_ID),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  pollInterval: z.number().optional().catch(undefined),
  statusMessage: z.string().optional().catch(undefined),
});
type Task = z.infer<typeof TASK>;
/** The server did not run the call as a task, and answered it directly. */
const BEGUN = z.looseObject({ task: TASK.optional() });
const ANY_RESULT = z.looseObject({});

/** What it takes to call a tool as a task. */
export interface TaskTerms {
  /** Absent for a call that no replica takes up. */
  readonly call: RunningCall | undefined;
  /** Ends when the call does. */
  readonly signal: AbortSignal;
  /** Why the call is ended from outside, if it is. */
  readonly parent: AbortSignal;
  readonly silence: PausableTimer;
  /** The session at the server to which tasks belong. */
  readonly session: string | undefined;
  /** Whether the server says that tasks can be cancelled. */
  readonly canCancel: boolean;
  onAnswer(): void;
  onStatus(message: string): void;
}

/** The parameters of `tools/call`. */
interface CallParams {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly _meta: Readonly<Record<string, unknown>>;
}

/**
 * A call that its server runs as a task (protocol 2025-11-25): it is made once, its id is stored, and the server is polled until
 * the task is over. Whatever the server says about the task is an answer. When the server responds but fails to say it, the
 * gateway asks a few times more. Only a lost connection is no answer; the task then keeps running.
 */
export class ServerTask {
  /** The request for the result while the task waits for input: the server's questions come in its response. */
  private asking: Promise<CallToolResult | undefined> | undefined;
  private early: CallToolResult | undefined;
  private shown: string | undefined;
  private shownAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly client: Client,
    private readonly terms: TaskTerms,
  ) {}

  /** Makes the call. Throws `McpToolFailed` and the client library's errors. */
  async run(params: CallParams): Promise<CallToolResult> {
    const { task, ...result } = await this.begin(params);
    if (task === undefined) return toolResult(result);
    const { call, session } = this.terms;
    try {
      await call?.keepTask({ id: task.taskId, ...(session === undefined ? {} : { session }) });
    } catch (error) {
      // Nobody will ever ask for it.
      await this.cancel(task.taskId);
      throw error;
    }
    return this.follow(task.taskId);
  }

  /** Asks for the result of a call that was made before. Throws the same. */
  async follow(id: string): Promise<CallToolResult> {
    const { call, parent, signal } = this.terms;
    try {
      return await this.poll(id);
    } catch (error) {
      if (signal.aborted && call?.isTakenUpAfter(parent.reason) !== true) await this.cancel(id);
      throw error;
    }
  }

  /** A task whose id comes after the call was ended is cancelled: so the protocol wants it, in place of cancelling the request. */
  private async begin(params: CallParams): Promise<z.infer<typeof BEGUN>> {
    const { call, signal } = this.terms;
    const ttl = call === undefined ? NO_TURN_TTL_MS : call.timeoutMs + SPARE_TTL_MS;
    const request = { method: 'tools/call', params: { ...params, task: { ttl } } };
    const begun = this.client.request(request, BEGUN, { timeout: ttl });
    try {
      const answer = await Promise.race([begun, rejection(signal)]);
      this.answered();
      return answer;
    } catch (error) {
      if (signal.aborted)
        void begun.then(({ task }) => task && this.cancel(task.taskId)).catch(() => undefined);
      throw error;
    }
  }

  private async poll(id: string): Promise<CallToolResult> {
    const startedAt = performance.now();
    for (let polls = 1; polls <= MAX_POLLS; polls += 1) {
      const task = await this.get(id);
      this.show(task);
      if (task.status === 'completed') return this.result(id);
      if (task.status === 'failed') return this.failure(id, task);
      if (task.status === 'cancelled')
        throw new McpToolFailed(`The server cancelled the task that ran this call${saying(task)}.`);
      if (task.status === 'input_required') this.takeQuestions(id);
      const { signal } = this.terms;
      const pause = sleep(pauseMs(task, performance.now() - startedAt), undefined, { signal });
      await Promise.race(
        [pause, this.asking?.then((early) => early ?? pause)].filter((one) => one !== undefined),
      );
      if (this.early !== undefined) return this.early;
    }
    await this.cancel(id);
    throw new McpToolFailed(
      `The task that ran this call was not over when it had been asked about ${MAX_POLLS} times.`,
    );
  }

  private async get(id: string): Promise<Task> {
    const task = await this.request('tasks/get', id, TASK);
    this.answered();
    return task;
  }

  /**
   * While the task waits for input, the server's questions come in the response to this request, which ends with the
   * task.
   */
  private takeQuestions(id: string): void {
    this.asking ??= this.fetched(id)
      .then((result) => (this.early = result))
      // The status says what became of the task.
      .catch(() => undefined)
      .finally(() => (this.asking = undefined));
  }

  private async result(id: string): Promise<CallToolResult> {
    return (await this.asking) ?? this.early ?? (await this.fetched(id));
  }

  /** What the failed request would have returned: a result that says so, or an error. */
  private async failure(id: string, task: Task): Promise<CallToolResult> {
    try {
      return { ...(await this.result(id)), isError: true };
    } catch (error) {
      if (!(error instanceof ProtocolError) && !(error instanceof McpToolFailed) && !isInvalid(error))
        throw error;
      const why = task.statusMessage === undefined ? `: ${error.message}` : saying(task);
      throw new McpToolFailed(`The task that ran this call failed${why}.`);
    }
  }

  private async fetched(id: string): Promise<CallToolResult> {
    return toolResult(await this.request('tasks/result', id, ANY_RESULT));
  }

  /** Asks until the server answers. Throws what `requestOnce` throws once the server no longer responds. */
  private async request<Schema extends z.ZodType>(
    method: string,
    taskId: string,
    schema: Schema,
  ): Promise<z.infer<Schema>> {
    const { signal } = this.terms;
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.requestOnce(method, taskId, schema, { signal, timeout: NO_TIMEOUT_MS });
      } catch (error) {
        if (!(error instanceof SdkHttpError) || signal.aborted || !(await this.isThere())) throw error;
        if (isSessionGone(error)) throw new McpToolFailed(TASK_UNKNOWN);
        if (failures === MAX_FAILURES)
          throw new McpToolFailed(`${TASK_UNANSWERED} It answers with HTTP ${error.status}.`);
      }
      await sleep(failures * FAILURE_PAUSE_MS, undefined, { signal });
    }
  }

  private async requestOnce<Schema extends z.ZodType>(
    method: string,
    taskId: string,
    schema: Schema,
    options: RequestOptions,
  ): Promise<z.infer<Schema>> {
    try {
      return (await this.client.request({ method, params: { taskId } }, schema, options)) as z.infer<Schema>;
    } catch (error) {
      const refusal = error instanceof ProtocolError ? error : refusalInBody(error);
      if (refusal?.code === ProtocolErrorCode.InvalidParams)
        throw new McpToolFailed(`${TASK_UNKNOWN} The server says: ${refusal.message}`);
      // Without a turn that stores its id nobody asks again, and the call must not be made a second time.
      if (this.terms.call === undefined && isSessionGone(error)) throw new McpToolFailed(TASK_UNKNOWN);
      throw refusal ?? error;
    }
  }

  /** Whether the server responds in this session, so that its answer was about the task. */
  private async isThere(): Promise<boolean> {
    try {
      await this.client.ping({ signal: this.terms.signal, timeout: PING_MS });
    } catch (error) {
      if (!(error instanceof ProtocolError)) return false;
    }
    this.answered();
    return true;
  }

  /** Never rejects: a task that is over, or unknown, needs no cancelling. */
  private async cancel(id: string): Promise<void> {
    if (!this.terms.canCancel) return;
    await this.requestOnce('tasks/cancel', id, ANY_RESULT, { timeout: CANCEL_MS }).catch(() => undefined);
  }

  private answered(): void {
    this.terms.silence.restart();
    this.terms.onAnswer();
  }

  private show({ statusMessage }: Task): void {
    const now = performance.now();
    // A status that came too soon after another is shown at the next poll.
    if (statusMessage === undefined || statusMessage === this.shown || now - this.shownAt < SHOW_MS) return;
    this.shown = statusMessage;
    this.shownAt = now;
    this.terms.onStatus(statusMessage);
  }
}

function pauseMs({ pollInterval = DEFAULT_POLL_MS }: Task, ranMs: number): number {
  const least = Math.max(MIN_POLL_MS, ranMs / POLL_SHARE);
  return Math.min(MAX_POLL_MS, Math.max(least, pollInterval));
}

function saying({ statusMessage }: Task): string {
  if (statusMessage === undefined) return '';
  return `: ${statusMessage.endsWith('.') ? statusMessage.slice(0, -1) : statusMessage}`;
}

/** The answer as if the call itself had returned it. Throws like the client library when it is invalid. */
function toolResult(answer: object): CallToolResult {
  const result = specTypeSchemas.CallToolResult['~standard'].validate({ content: [], ...answer });
  if (result instanceof Promise || result.issues !== undefined)
    throw new SdkError(SdkErrorCode.InvalidResult, 'The result of the task is no result of a tool.');
  return result.value;
}

function isInvalid(error: unknown): error is SdkError {
  return error instanceof SdkError && error.code === SdkErrorCode.InvalidResult;
}

/** Rejects with the signal's reason. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
  });
}
