import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { senderUserId } from '../../../platform/tokens/user-ids.js';
import {
  contentProblem,
  formOf,
  type QuestionAnswer,
  type QuestionRecord,
  ToolQuestions,
  withFallbacks,
} from '../../tools/tools.api.js';
import type { ChannelAdapter } from '../channel-adapter.port.js';
import { NotSent } from '../channel-failures.js';
import { splitMarkdown } from '../formatting/split-markdown.js';
import { Inbox, type OpenMessage } from '../inbound/inbox.store.js';
import { answerOf, bareText, isAnswerable, questionText } from './question-text.js';

const POLL_MS = 500;
/** After this many messages that do not fit, the person is not asked again. */
const MAX_TRIES = 3;
/** Before a question is sent again that did not leave, when the platform does not say for how long. */
const RETRY_MS = 2000;
const AGAIN = 'I could not read that as an answer.';

interface AskedPerson {
  readonly message: OpenMessage;
  readonly adapter: ChannelAdapter;
  readonly sessionId: string;
}

/** What became of a question. */
interface Shown {
  /** How often it was shown. */
  readonly tries: number;
  /** Messages from then on may answer it; undefined while it may not have arrived. */
  readonly since?: Date;
  /** When it is sent again, on the clock of `performance`; undefined when it is not. */
  readonly retryAt?: number;
}

interface Watch extends AskedPerson {
  readonly asked: Map<string, Shown>;
  readonly signal: AbortSignal;
}

/**
 * Asks the person of a running turn, in their chat, what a tool wants to know, and takes their next message as the answer. The
 * answer and the message that gave it are stored in one transaction: a message is an answer or gets one, never both.
 */
@Injectable()
export class ChannelQuestions {
  private readonly logger: Logger;

  constructor(
    private readonly questions: ToolQuestions,
    private readonly inbox: Inbox,
    private readonly redactor: Redactor,
    logs: Logs,
  ) {
    this.logger = logs.for('channels::questions');
  }

  /** Until the signal is aborted. Never rejects: a question that cannot be asked here ends by its time. */
  async watch(person: AskedPerson, signal: AbortSignal): Promise<void> {
    const watch = { ...person, asked: new Map<string, Shown>(), signal };
    while (!signal.aborted) {
      await this.look(watch).catch((error: unknown) => {
        if (!signal.aborted)
          this.logger.warn('a question of a tool could not be asked in a chat', {
            channel: person.message.channel,
            error: String(error),
          });
      });
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private async look(watch: Watch): Promise<void> {
    const { sessionId, message, asked } = watch;
    const question = await this.questions.findFor(sessionId, senderUserId(message.userId));
    if (question === undefined) return;
    const shown = asked.get(question.id);
    const isDue = shown === undefined || (shown.retryAt ?? Infinity) <= performance.now();
    if (isDue) {
      await this.show(question, watch);
      return;
    }
    if (shown.since === undefined || !isAnswerable(question)) return;
    const reply = await this.inbox.replyTo(message, shown.since);
    if (reply !== undefined) await this.take(question, reply, { ...watch, shown });
  }

  /**
   * A question that may or may not have arrived is not repeated, and no message counts as its answer: it ends when its
   * time is over.
   */
  private async show(question: QuestionRecord, watch: Watch): Promise<void> {
    const { asked } = watch;
    // The time before it is sent: a quick answer may be stored before the platform has confirmed the question.
    const since = await this.inbox.now();
    asked.set(question.id, { tries: 1 });
    const problem = await this.say(watch, question.id, this.textOf(question));
    if (problem === undefined) asked.set(question.id, { tries: 1, since });
    else if (problem.why === 'retry') {
      const waitMs = Math.max(problem.retryAfterMs ?? 0, RETRY_MS);
      asked.set(question.id, { tries: 1, retryAt: performance.now() + waitMs });
    }
  }

  private async take(
    question: QuestionRecord,
    reply: OpenMessage,
    watch: Watch & { readonly shown: Shown },
  ): Promise<void> {
    const answer = fitting(question, bareText(reply));
    const { shown, asked } = watch;
    if (answer === undefined && shown.tries < MAX_TRIES) {
      asked.set(question.id, { ...shown, tries: shown.tries + 1 });
      await this.inbox.done(reply);
      await this.say(watch, `${question.id}_${shown.tries}`, `${AGAIN}\n\n${this.textOf(question)}`);
      return;
    }
    await this.questions.answer(question.id, answer ?? { action: 'cancel' }, reply.userId, (runner) =>
      this.inbox.done(reply, runner),
    );
  }

  private textOf(question: QuestionRecord): string {
    return questionText(question, (text) => this.redactor.hideKnown(text));
  }

  /** @returns why not all of it arrived; what follows a part that did not is not sent */
  private async say(
    { message, adapter, signal }: Watch,
    id: string,
    text: string,
  ): Promise<NotSent | undefined> {
    const { target } = message;
    try {
      for (const [index, part] of splitMarkdown(text, adapter.maxReplyLength).entries())
        await adapter.send({ target, text: part, key: `${id}_${index}` }, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof NotSent)) throw error;
      this.logger.warn('a question of a tool did not reach its chat', {
        channel: message.channel,
        reason: error.message,
      });
      return error;
    }
  }
}

/** The answer with the defaults of the question, when it fits. */
function fitting(question: QuestionRecord, text: string): QuestionAnswer | undefined {
  const answer = answerOf(question, text);
  if (answer?.content === undefined) return answer;
  const form = formOf(question.schema);
  const content = withFallbacks(form, answer.content);
  return contentProblem(form, content) === undefined ? { ...answer, content } : undefined;
}
