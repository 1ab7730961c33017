import { Injectable } from '@nestjs/common';
import { BadFields } from '../../common/errors/gateway-error.js';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import type { Caller } from '../../platform/tokens/caller.js';
import {
  contentProblem,
  formOf,
  type QuestionAnswer,
  type QuestionRecord,
  type QuestionStatus,
  ToolQuestions,
  withFallbacks,
} from '../tools/tools.api.js';
import { SessionNotFound } from '../turns/turns.api.js';
import { NoWaitingQuestion, QuestionAnswered } from './sessions.errors.js';
import { SessionsService } from './sessions.service.js';

const LIST = new KeysetList('questions', ['time', 'text'], ({ askedAt, id }: QuestionRecord) => [
  askedAt,
  id,
]);

/** What tools ask people while they run, over all sessions that the caller may see. */
@Injectable()
export class Questions {
  constructor(
    private readonly questions: ToolQuestions,
    private readonly sessions: SessionsService,
  ) {}

  /** Newest first; a bound caller sees those of its user's sessions, a caller for some agents those of these agents. */
  async list(query: PageQuery, status: QuestionStatus, caller: Caller): Promise<Page<QuestionRecord>> {
    const { boundUserId: userId, agents } = caller;
    const filters = [status, userId];
    const found = await this.questions.page(
      LIST.after(query, filters),
      { status, userId, agents },
      query.limit + 1,
    );
    return LIST.page(found, query, filters);
  }

  /**
   * Every caller that may write to the session may answer; the first answer over all replicas counts. Throws
   * `NoWaitingQuestion`, also for a question of another session than `sessionId`, `BadFields` when the content does not
   * fit the form, and `QuestionAnswered`.
   */
  async answer(
    id: string,
    answer: QuestionAnswer,
    caller: Caller,
    sessionId?: string,
  ): Promise<QuestionRecord> {
    const asked = await this.found(id, caller, sessionId);
    const given = fitted(asked, answer);
    const by = `token "${caller.tokenName}" (${caller.tokenId})`;
    const isFirst = asked.status === 'pending' && (await this.questions.answer(id, given, by));
    const answered = await this.found(id, caller, sessionId);
    if (!isFirst) throw new QuestionAnswered(answered);
    return answered;
  }

  private async found(id: string, caller: Caller, sessionId?: string): Promise<QuestionRecord> {
    const record = await this.questions.find(id);
    if (record === undefined) throw new NoWaitingQuestion();
    if (sessionId !== undefined && record.sessionId !== sessionId) throw new NoWaitingQuestion();
    await this.sessions.find(record.sessionId, caller).catch((error: unknown) => {
      throw error instanceof SessionNotFound ? new NoWaitingQuestion() : error;
    });
    return record;
  }
}

/** The answer with what the question's defaults add. Throws `BadFields`. */
function fitted({ schema, url }: QuestionRecord, { action, content }: QuestionAnswer): QuestionAnswer {
  if (action !== 'accept' || url !== undefined) {
    if (content === undefined) return { action };
    const message = action === 'accept' ? 'is not asked for: a page is' : `does not go with "${action}"`;
    throw new BadFields([{ path: 'content', message }]);
  }
  const form = formOf(schema);
  const whole = withFallbacks(form, content ?? {});
  const problem = contentProblem(form, whole);
  if (problem !== undefined) throw new BadFields([{ path: 'content', message: problem }]);
  return { action, content: whole };
}
