import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { estimatedTokens, type ModelMessage, type ModelUsage } from '../../models/models.api.js';
import { PromptSources, ToolCatalog, ToolSources } from '../../tools/tools.api.js';
import { offeredTools } from '../callers/caller-tools.js';
import type { ClaimedTurn } from '../claimed-turn.js';
import type { HistoryMessage, Message, NewUserMessage } from '../message.js';
import { MessageStore } from '../message.store.js';
import { type TurnStep, TurnStepsStore } from '../rounds/turn-steps.store.js';
import { toolContext } from '../tool-context.js';
import type { TurnInput } from '../turn.js';
import { type ContextCut, contextBudget, contextCut, surelyFits } from './context-cut.js';
import { ContextCutsStore, type Summary } from './context-cuts.store.js';
import {
  type Exchange,
  exchangesOf,
  mediaLeftOut,
  modelMessages,
  stepsOfRecords,
  userMessage,
  userTokens,
  withNote,
} from './conversation.js';
import { Summaries, type SummaryResult, type SummaryTerms, summaryTag } from './summaries.service.js';
import { toolTokens } from './tool-tokens.js';

/** A turn, and the token that asked for it. */
export type CalledTurn = ClaimedTurn & {
  readonly caller: Caller;
  /** What it had done before it was taken up. */
  readonly earlier?:
    | {
        readonly done: readonly TurnStep[];
        readonly lastStep: number;
        /** Milliseconds that it ran, as far as known. */
        readonly ranMs: number;
        /** From 2. */
        readonly attempt: number;
      }
    | undefined;
};

type Steps = ReadonlyMap<string, readonly TurnStep[]>;
type Bytes = ReadonlyMap<string, Buffer>;

const NO_STEPS: Steps = new Map();
const NO_BYTES: Bytes = new Map();

/** What it takes to ask a model before the first round, if the turn has to. */
export type PromptTerms = Pick<SummaryTerms, 'agent' | 'account' | 'emit' | 'signal'>;

const NOTHING_SPENT: ModelUsage = { input: 0, output: 0 };
/** How many messages that no model has seen are summarised at most. */
const MAX_SUMMED_UP = 10_000;

/** What the model is told when it does not get the whole conversation. */
const LEFT_OUT_NOTE = '[The oldest messages of this conversation are left out, because it is long.]';

/**
 * Builds what a turn gives to the model. System prompt, tools and history begin exactly as in the call before, byte for
 * byte, so that providers can cache them; what applies only to this message comes after them.
 */
@Injectable()
export class TurnPrompt {
  private readonly logger: Logger;

  constructor(
    private readonly sources: PromptSources,
    private readonly catalog: ToolCatalog,
    private readonly tools: ToolSources,
    private readonly messages: MessageStore,
    private readonly steps: TurnStepsStore,
    private readonly cuts: ContextCutsStore,
    private readonly summaries: Summaries,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  /** Throws the signal's reason when it is aborted. */
  async inputOf(
    turn: CalledTurn,
    message: NewUserMessage,
    terms: PromptTerms & Pick<TurnInput, 'waits'>,
  ): Promise<TurnInput> {
    const { agent, account, signal, waits } = terms;
    const { channel, userId, lease } = turn;
    const context = toolContext(
      { sessionId: lease.sessionId, channel, userId, agent: turn.agent },
      turn.caller,
    );
    await this.tools.settled(signal);
    const question = { context, content: message.content, hasMemories: turn.hasMemories };
    const additions = await this.sources.additions(question, signal);
    const system = joined([
      turn.systemPrompt ?? agent.settings.systemPrompt,
      message.systemNote ?? '',
      message.options?.instructions ?? '',
      ...additions.system,
    ]);
    const trailing = joined(additions.trailing);
    const tools = offeredTools(this.catalog.list(context), message.options);
    const otherTokens =
      estimatedTokens(system) + estimatedTokens(trailing) + toolTokens(tools) + userTokens(message);
    const { earlier, note, spent } = await this.earlier(turn, otherTokens, terms);
    const fresh = new Map(message.attachments.map(({ id, data }) => [id, data]));
    const messages = withNote([...earlier, ...said(message, fresh, earlier.at(-1))], note);
    const { options = {} } = message;
    const { done, lastStep } = turn.earlier ?? { done: [], lastStep: 0 };
    const steps = this.steps.open(lease, account, lastStep);
    const shown = { system, trailing, tools, messages, options };
    return { context, ...shown, agent, turnId: lease.turnId, spent, account, done, steps, waits };
  }

  /** The history that fits, the summary of the rest, and what the summary cost. */
  private async earlier(turn: CalledTurn, tokens: number, terms: PromptTerms) {
    const known = turn.summary;
    const otherTokens = tokens + estimatedTokens(known?.content ?? '');
    const budget = contextBudget(this.settings.current.agent, terms.agent.settings.maxOutputTokens);
    const { history, seq, cut: inForce } = turn;
    if (surelyFits(history, { seq, cut: inForce, otherTokens }, budget)) {
      const whole = [{ said: history }];
      const earlier = modelMessages(whole, { steps: NO_STEPS, cut: inForce, bytes: NO_BYTES });
      return { earlier, note: noteOf(inForce, known), spent: NOTHING_SPENT };
    }
    const steps = await this.stepsOf(turn);
    const exchanges = exchangesOf(turn.history, steps, turn.cut);
    // Answers whose question was not read are not sent either: without them the beginning would slip unnoticed.
    const read = exchanges.reduce((sum, { messages }) => sum + messages, 0);
    const unread = turn.seq - 1 - turn.cut.messages - read;
    const cut = contextCut(exchanges, turn.cut, budget, { otherTokens, unread });
    const { summary, usage } =
      cut === turn.cut
        ? { summary: known, usage: NOTHING_SPENT }
        : await this.compact(turn, cut, known, terms);
    const kept = exchanges.filter(({ through }) => through > cut.messages);
    const most = this.settings.current.agent.context_media_bytes;
    const leftOut = mediaLeftOut(kept, { steps, cut }, most);
    const bytes = await this.attachedTo(kept, leftOut);
    const earlier = modelMessages(kept, { steps, cut, bytes, leftOut });
    return { earlier, note: noteOf(cut, summary), spent: usage };
  }

  /** Stores the cut for later turns, with a summary of the messages that are cut if that is wanted and possible. */
  private async compact(
    turn: CalledTurn,
    cut: ContextCut,
    known: Summary | undefined,
    terms: PromptTerms,
  ): Promise<SummaryResult> {
    const { sessionId, turnId } = turn.lease;
    const { userId } = turn;
    const wantsSummary =
      this.settings.current.agent.compaction === 'summary' && cut.messages > turn.cut.messages;
    const { summary, usage } = wantsSummary
      ? await this.summaries.sumUp(
          { before: known, messages: await this.goingMessages(turn, cut), last: cut.messages },
          { ...terms, sessionId, userId, turnId },
        )
      : { summary: undefined, usage: NOTHING_SPENT };
    await this.cuts.store(turn.lease, cut, summary);
    this.logger.info('the oldest part of a conversation is no longer given to the model', {
      session_id: sessionId,
      messages_until: cut.messages,
      results_until: cut.results,
      summed_up: summary !== undefined,
    });
    return { summary: summary ?? known, usage };
  }

  /** The messages that this cut removes from what the model sees. */
  private async goingMessages(
    { lease, history, cut: before }: CalledTurn,
    cut: ContextCut,
  ): Promise<(Message | HistoryMessage)[]> {
    const read = history.filter(({ seq }) => seq <= cut.messages);
    const firstRead = history[0]?.seq ?? cut.messages + 1;
    const unread = Math.min(firstRead - 1 - before.messages, MAX_SUMMED_UP);
    if (unread <= 0) return read;
    return [...(await this.messages.before(lease.sessionId, firstRead, unread)).messages, ...read];
  }

  /** For a turn whose replica died the history has only a note, and not its calls. */
  private async stepsOf({ lease, history, cut }: CalledTurn): Promise<Steps> {
    const ids: string[] = [];
    for (const { id, toolCalls, incomplete } of history)
      if (toolCalls.length > 0 || incomplete === 'interrupted') ids.push(id);
    if (ids.length === 0) return NO_STEPS;
    const stored = await this.steps.of(lease.sessionId, ids, cut.results);
    const brought = history.filter(({ id, toolCalls }) => toolCalls.length > 0 && !stored.has(id));
    if (brought.length === 0) return stored;
    return new Map([...stored, ...brought.map((one) => [one.id, stepsOfRecords(one)] as const)]);
  }

  private attachedTo(exchanges: readonly Exchange[], leftOut: ReadonlySet<string>): Bytes | Promise<Bytes> {
    const ids: string[] = [];
    for (const { said } of exchanges)
      for (const { id, attachments } of said)
        if (attachments.some((one) => !leftOut.has(one.id))) ids.push(id);
    return ids.length === 0 ? NO_BYTES : this.messages.attachedTo(ids);
  }
}

/**
 * The text for a message that only brings outputs, when an earlier attempt to answer them has left its own text after
 * them.
 */
const GO_ON = '[Go on with the results of the tools above.]';

/** A message that only brings outputs of tools has no text: they are in the history, where they were asked for. */
function said(message: NewUserMessage, bytes: Bytes, before: ModelMessage | undefined): ModelMessage[] {
  const whole = userMessage(message, bytes);
  if (whole.parts.length > 0) return [whole];
  return before?.role === 'tool' ? [] : [{ role: 'user', parts: [{ type: 'text', text: GO_ON }] }];
}

/** Comes before the first message that is left. */
function noteOf(cut: ContextCut, summary: Summary | undefined): string {
  if (cut.messages === 0) return '';
  const gap = (summary?.last ?? 0) < cut.messages ? LEFT_OUT_NOTE : '';
  return joined([summaryTag(summary?.content ?? ''), gap]);
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
