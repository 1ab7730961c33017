import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
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
/** Messages that are no answer before nobody is asked to try again. */
const MAX_TRIES = 3;
const AGAIN = 'I could not read that as an answer.';

interface AskedPerson {
  readonly message: OpenMessage;
  readonly adapter: ChannelAdapter;
  readonly sessionId: string;
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
    logs: Logs,
  ) {
    this.logger = logs.for('channels::questions');
  }

  /** Until the signal is aborted. Never rejects: a question that cannot be asked here ends by its time. */
  async watch(person: AskedPerson, signal: AbortSignal): Promise<void> {
    const asked = new Map<string, number>();
    while (!signal.aborted) {
      await this.look(person, asked, signal).catch((error: unknown) => {
        if (!signal.aborted)
          this.logger.warn('a question of a tool could not be asked in a chat', {
            channel: person.message.channel,
            error: String(error),
          });
      });
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** `asked` has how often each question was shown. */
  private async look(person: AskedPerson, asked: Map<string, number>, signal: AbortSignal): Promise<void> {
    const question = await this.questions.findFor(person.sessionId, senderUserId(person.message.userId));
    if (question === undefined) return;
    if (!asked.has(question.id)) {
      asked.set(question.id, 1);
      await this.say(person, question.id, questionText(question), signal);
      return;
    }
    if (!isAnswerable(question)) return;
    const reply = await this.inbox.replyTo(person.message, question.askedAt);
    if (reply !== undefined) await this.take(question, reply, { ...person, asked, signal });
  }

  private async take(
    question: QuestionRecord,
    reply: OpenMessage,
    terms: AskedPerson & { readonly asked: Map<string, number>; readonly signal: AbortSignal },
  ): Promise<void> {
    const answer = fitting(question, bareText(reply));
    const tries = terms.asked.get(question.id) ?? 1;
    if (answer === undefined && tries < MAX_TRIES) {
      terms.asked.set(question.id, tries + 1);
      await this.inbox.done(reply);
      await this.say(terms, `${question.id}_${tries}`, `${AGAIN}\n\n${questionText(question)}`, terms.signal);
      return;
    }
    await this.questions.answer(question.id, answer ?? { action: 'cancel' }, reply.userId, (runner) =>
      this.inbox.done(reply, runner),
    );
  }

  /** A question whose arrival is unknown is not repeated: it ends by its time. */
  private async say(
    { message, adapter }: AskedPerson,
    id: string,
    text: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { target } = message;
    for (const [index, part] of splitMarkdown(text, adapter.maxReplyLength).entries()) {
      await adapter.send({ target, text: part, key: `${id}_${index}` }, signal).catch((error: unknown) => {
        if (!(error instanceof NotSent)) throw error;
        this.logger.warn('a question of a tool did not reach its chat', {
          channel: message.channel,
          reason: error.message,
        });
      });
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
