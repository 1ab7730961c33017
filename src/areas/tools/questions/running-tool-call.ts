import { sentenceOf } from '../../../common/errors/error-text.js';
import { storableText } from '../../../platform/database/storable-text.js';
import type { PausableTimer } from '../../../platform/runtime/pausable-timer.js';
import type { ModelToolCall } from '../../models/models.api.js';
import type { TurnPause } from '../tool-approvals.port.js';
import {
  type CallProgress,
  type CallTask,
  type RunningCall,
  SamplingRefused,
  type ToolSampled,
  type ToolSampling,
} from '../tool-catalog.port.js';
import type { ToolQuestionUpdate, ToolTurn } from '../tool-turn.js';
import { type QuestionOutcome, STATUS_OF, type ToolQuestion } from './tool-question.js';
import type { ToolQuestions } from './tool-questions.js';

/** How many questions one call may ask. */
const MAX_QUESTIONS = 20;
/** How often it may show its progress: once in so many milliseconds. */
const MAX_SHOWN = 100;
const SHOW_MS = 500;
const MAX_MESSAGE = 500;
/** How often one call may ask the model. */
const MAX_SAMPLINGS = 10;

/** A running call: what it may ask of the people who follow its turn. Their time does not count as the tool's. */
export class RunningToolCall implements RunningCall {
  private asked = 0;
  private sampled = 0;
  private shown = 0;
  private shownAt = -SHOW_MS;
  private kept: CallTask | undefined;

  constructor(
    private readonly call: ModelToolCall,
    private readonly turn: ToolTurn,
    private readonly questions: ToolQuestions,
    private readonly clock: PausableTimer,
  ) {
    this.kept = turn.task;
  }

  get id(): string {
    return this.call.id;
  }

  get timeoutMs(): number {
    return this.turn.timeoutMs;
  }

  get task(): CallTask | undefined {
    return this.kept;
  }

  async keepTask(task: CallTask): Promise<void> {
    await this.turn.onTask?.(this.call, task);
    this.kept = task;
  }

  isTakenUpAfter(reason: unknown): boolean {
    return this.turn.onTask !== undefined && ((reason ?? {}) as Partial<TurnPause>).goesOn === true;
  }

  async ask(question: ToolQuestion, signal: AbortSignal): Promise<QuestionOutcome> {
    this.asked += 1;
    if (this.asked > MAX_QUESTIONS) return { action: 'decline' };
    const { context, emit } = this.turn;
    const { id: callId, name: tool } = this.call;
    let open: Omit<ToolQuestionUpdate, 'status'> | undefined;
    const onOpen = (questionId: string, expiresAt: Date): void => {
      const { message, schema, url } = question;
      open = { questionId, callId, tool, message, schema, ...(url === undefined ? {} : { url }), expiresAt };
      // A viewer that does not read on is not waited for: the time of the question runs.
      void emit({ type: 'tool_question', question: { ...open, status: 'pending' } });
    };
    const tell = (status: ToolQuestionUpdate['status']) => {
      if (open !== undefined) void emit({ type: 'tool_question', question: { ...open, status } });
    };
    const goOn = this.clock.hold();
    try {
      const outcome = await this.questions.ask({ ...question, callId, tool, context, onOpen }, signal);
      tell(outcome.isTimeout === true ? 'timeout' : STATUS_OF[outcome.action]);
      return outcome;
    } catch (error) {
      tell('cancelled');
      throw error instanceof Error ? error : new Error(sentenceOf(error));
    } finally {
      goOn();
    }
  }

  /** The model's time does not count as the tool's. */
  async sample(question: ToolSampling, signal: AbortSignal): Promise<ToolSampled> {
    if (this.turn.sample === undefined) throw new SamplingRefused('No model is there for this call.');
    this.sampled += 1;
    if (this.sampled > MAX_SAMPLINGS)
      throw new SamplingRefused(`One call may ask the model ${MAX_SAMPLINGS} times.`);
    const goOn = this.clock.hold();
    try {
      return await this.turn.sample(question, signal);
    } finally {
      goOn();
    }
  }

  progress({ message, ...figures }: CallProgress): void {
    const now = performance.now();
    if (this.shown >= MAX_SHOWN || now - this.shownAt < SHOW_MS) return;
    this.shown += 1;
    this.shownAt = now;
    const progress =
      message === undefined ? figures : { ...figures, message: storableText(message).slice(0, MAX_MESSAGE) };
    void this.turn.emit({
      type: 'tool_progress',
      callId: this.call.id,
      tool: this.call.name,
      progress,
    });
  }
}
