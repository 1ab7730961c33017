import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { storableText } from '../../platform/database/storable-text.js';
import { PausableTimer } from '../../platform/runtime/pausable-timer.js';
import { SpanContent } from '../../platform/tracing/span-content.js';
import { inSpan } from '../../platform/tracing/spans.js';
import type { ModelToolCall, ModelToolResult } from '../models/models.api.js';
import { RunningToolCall } from './questions/running-tool-call.js';
import { ToolQuestions } from './questions/tool-questions.js';
import type { ToolCallRecord } from './tool-call.js';
import { ToolCallLog } from './tool-call-log.js';
import { type ProducedFile, type ToolAnswer, ToolCatalog } from './tool-catalog.port.js';
import { ToolGate } from './tool-gate.js';
import type { ToolTurn } from './tool-turn.js';

const MAX_KEPT_BYTES = 16_384;
const MAX_MODEL_BYTES = 65_536;
/** How long a call that runs as a task waits for its server to be connected, and how often it checks. */
const SERVER_MS = 30_000;
const SERVER_POLL_MS = 250;
const SERVER_AWAY =
  'Outcome unknown: this call ran as a task when the gateway was interrupted, and its server was not there to say what came of it. ' +
  'It was not made again. Find out before you repeat it.';

export interface AnsweredCall {
  readonly record: ToolCallRecord;
  readonly result: ModelToolResult;
  /** Files for people besides the answer; absent when there are none. */
  readonly files?: readonly ProducedFile[];
}

/** Runs one tool call, if it may run, within its time-out, shows it to viewers before and after, and records it. */
@Injectable()
export class ToolCallRunner {
  constructor(
    private readonly catalog: ToolCatalog,
    private readonly gate: ToolGate,
    private readonly callLog: ToolCallLog,
    private readonly questions: ToolQuestions,
    private readonly content: SpanContent,
  ) {}

  /** Throws only the reason of an aborted turn. */
  async run(call: ModelToolCall, turn: ToolTurn): Promise<AnsweredCall> {
    await turn.emit({ type: 'tool_call', id: call.id, name: call.name, arguments: call.arguments });
    // A task was allowed when it was started.
    const refusal = turn.task === undefined ? await this.refusal(call, turn) : undefined;
    if (refusal !== undefined) return this.answered(call, refusal, 0, turn);
    // The turn may be released at this moment: a call that is not made must not be stored as sent.
    turn.signal.throwIfAborted();
    await turn.onSend?.(call);
    const startedAt = performance.now();
    const answer = await inSpan(
      {
        name: `execute_tool ${call.name}`,
        attributes: () => ({
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': call.name,
          'gen_ai.tool.call.id': call.id,
          'gen_ai.tool.type': 'function',
          ...(this.content.isWanted && {
            'gen_ai.tool.call.arguments': this.content.text(JSON.stringify(call.arguments)),
          }),
        }),
      },
      async (span) => {
        const given = await this.callInTime(call, turn);
        if (span === undefined) return given;
        span.setAttribute('gateway.tool.status', given.status);
        if (given.status !== 'success') span.setAttribute('error.type', given.status);
        if (this.content.isWanted)
          span.setAttribute('gen_ai.tool.call.result', this.content.text(given.content));
        return given;
      },
    );
    return this.answered(call, answer, performance.now() - startedAt, turn);
  }

  /** Whether a person is asked before this call is made. */
  mayWait(call: ModelToolCall): boolean {
    return this.gate.needsApproval(call);
  }

  refuse(call: ModelToolCall, limit: number, turn: ToolTurn): Promise<AnsweredCall> {
    const content = `Not run: at most ${limit} tool calls are allowed for one message. Answer with what you have.`;
    return this.told(call, { status: 'denied', content }, turn);
  }

  /** Answers a call without making it. */
  async told(call: ModelToolCall, answer: ToolAnswer, turn: ToolTurn): Promise<AnsweredCall> {
    await turn.emit({ type: 'tool_call', id: call.id, name: call.name, arguments: call.arguments });
    return this.answered(call, answer, 0, turn);
  }

  private refusal(call: ModelToolCall, turn: ToolTurn): Promise<ToolAnswer | undefined> {
    if (call.problem !== undefined) return Promise.resolve({ status: 'error', content: call.problem });
    return this.gate.refusal(call, turn);
  }

  private async callInTime(call: ModelToolCall, turn: ToolTurn): Promise<ToolAnswer> {
    const { signal, timeoutMs } = turn;
    const own = new AbortController();
    const onTurnAbort = (): void => own.abort(signal.reason);
    const timer = new PausableTimer(timeoutMs, () => own.abort(new ToolTimedOut(timeoutMs)));
    const { context: said } = turn;
    // Without a session there is nobody whom a tool could ask.
    const context = said.isUnstored
      ? said
      : { ...said, call: new RunningToolCall(call, turn, this.questions, timer) };
    signal.addEventListener('abort', onTurnAbort, { once: true });
    try {
      signal.throwIfAborted();
      const running = this.called(call, { ...turn, context, signal: own.signal });
      const answer = await Promise.race([running, aborted(own.signal)]);
      // A tool that obeys its signal may be first to answer, with a text about having been stopped.
      own.signal.throwIfAborted();
      return answer;
    } catch (error) {
      if (!(error instanceof ToolTimedOut)) throw error;
      return { status: 'timeout', content: error.message };
    } finally {
      timer.clear();
      signal.removeEventListener('abort', onTurnAbort);
    }
  }

  /** The server of a task may not be connected yet: the replica that took the turn up may have started just now. */
  private async called(
    { name, arguments: args }: ModelToolCall,
    { context, signal, task }: Pick<ToolTurn, 'context' | 'signal' | 'task'>,
  ): Promise<ToolAnswer> {
    const latest = performance.now() + SERVER_MS;
    while (task !== undefined && this.catalog.sourceOf(name) === undefined) {
      if (signal.aborted || performance.now() > latest) return { status: 'error', content: SERVER_AWAY };
      await sleep(SERVER_POLL_MS, undefined, { signal }).catch(() => undefined);
    }
    return this.catalog.call(name, args, context, signal);
  }

  private async answered(
    call: ModelToolCall,
    answer: ToolAnswer,
    tookMs: number,
    { context, emit }: ToolTurn,
  ): Promise<AnsweredCall> {
    const record: ToolCallRecord = {
      id: call.id,
      name: call.name,
      arguments: call.arguments,
      status: answer.status,
      output: truncate(answer.content, MAX_KEPT_BYTES),
      durationMs: Math.round(tookMs),
    };
    await this.callLog.note(record, context);
    await emit({ type: 'tool_result', record });
    const content = truncate(answer.content, MAX_MODEL_BYTES);
    const { status, parts = [], files = [] } = answer;
    const result = { callId: call.id, content, isError: status !== 'success' };
    return {
      record,
      result: parts.length === 0 ? result : { ...result, parts },
      ...(files.length === 0 ? {} : { files }),
    };
  }
}

class ToolTimedOut extends Error {
  constructor(timeoutMs: number) {
    super(`The tool did not answer within ${timeoutMs} ms.`);
  }
}

/** Rejects with the signal's reason; a tool that ignores its signal is not waited for. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

/** Cuts to a number of bytes in UTF-8, at a whole character. */
function truncate(text: string, maxBytes: number): string {
  const clean = storableText(text);
  const bytes = Buffer.from(clean);
  if (bytes.length <= maxBytes) return clean;
  // A decoder in stream mode holds back the first bytes of an incomplete character.
  const head = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
  return `${head}\n[cut: ${bytes.length} bytes in all]`;
}
