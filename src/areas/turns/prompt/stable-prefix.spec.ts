import * as fc from 'fast-check';
import { forgetfulHealth, noFailovers, turnAgent } from '../../../../test/harness/turn-agent.js';
import { Logs } from '../../../platform/logging/logger.js';
import { type GatewaySettings, settingsSchema } from '../../../platform/settings/settings.schema.js';
import type { ModelCallMetrics } from '../../models/model-call-metrics.js';
import {
  type ModelEvent,
  ModelProvider,
  type ModelRequest,
  type ModelToolCall,
} from '../../models/model-provider.port.js';
import { anthropicRequest } from '../../models/providers/anthropic/anthropic-request.js';
import { chatRequest } from '../../models/providers/openai/chat-request.js';
import { responsesRequest } from '../../models/providers/openai/responses-request.js';
import { PromptSources } from '../../tools/prompt-sources.js';
import { ArgumentChecks } from '../../tools/schemas/argument-checks.js';
import { ToolPolicy } from '../../tools/tool-policy.js';
import { ToolRegistry } from '../../tools/tool-registry.js';
import { ToolSources } from '../../tools/tool-sources.js';
import type { ToolCallRecord, ToolCallRunner } from '../../tools/tools.api.js';
import type { NewAttachment, NewUserMessage, PlacedMessage } from '../message.js';
import type { MessageStore } from '../message.store.js';
import { ApprovalWaits } from '../rounds/approval-waits.js';
import { ModelCalls } from '../rounds/model-calls.js';
import { TurnRunner } from '../rounds/turn-runner.js';
import type { TurnStep, TurnStepsStore } from '../rounds/turn-steps.store.js';
import { RunningTurns } from '../running-turns.js';
import type { TurnAccount } from '../turn-account.js';
import type { ContextCut } from './context-cut.js';
import type { ContextCutsStore, Summary } from './context-cuts.store.js';
import type { Summaries, SummarySource } from './summaries.service.js';
import { type CalledTurn, TurnPrompt } from './turn-prompt.js';

/** What turns cost is seen in the tests of the whole gateway. */
const FREE_ACCOUNT: TurnAccount = {
  beforeCall: () => undefined,
  called: () => undefined,
  takeUnstored: () => [],
  budgetsToAsk: () => undefined,
  learn: () => undefined,
};

const MODEL = 'm';
const WIRES = ['anthropic', 'chat', 'responses'] as const;
const TOOLS = ['clock', 'files_read', 'search', 'weather'] as const;
const patient = new AbortController().signal;
const logs = { for: () => ({ info: () => undefined, warn: () => undefined }) } as unknown as Logs;

type Json = Readonly<Record<string, unknown>>;

// Conversations.

const anyText = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 80 }) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', '\n\n', 'Let me see.\n\n', '\n\nDone.') },
  { weight: 2, arbitrary: fc.integer({ min: 50, max: 300 }).map((words) => 'and so on '.repeat(words)) },
);
const anyCall = fc.record({
  name: fc.constantFrom(...TOOLS),
  arguments: fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 4 }),
  result: anyText,
  /** Whether it returns a picture beside its text. */
  draws: fc.nat({ max: 9 }).map((n) => n === 9),
});
const anyRound = fc.record({
  text: anyText,
  calls: fc.array(anyCall, { minLength: 1, maxLength: 3 }),
  thinks: fc.boolean(),
});
const anyQuestion = fc.record({
  // Only a message that brings outputs of tools says nothing.
  content: anyText.map((text) => (text.trim() === '' ? 'and so on' : text)),
  image: fc.boolean(),
  /** Memories and skills: other ones with each message. */
  trailing: anyText,
  rounds: fc.array(anyRound, { maxLength: 4 }),
  answer: anyText,
  ends: fc.constantFrom('well', 'well', 'well', 'model fails', 'cancelled'),
  /** The order in which tool servers came up. */
  tools: fc.shuffledSubarray([...TOOLS], { minLength: TOOLS.length }),
});
const anyConversation = fc.record({
  wire: fc.constantFrom(...WIRES),
  systemPrompt: fc.option(anyText),
  catalogue: anyText,
  /** What a channel says of all messages of a conversation. */
  note: fc.constantFrom('', 'Written in the channel #ops.'),
  /** Some providers number the calls of each answer from the beginning. */
  numbersCalls: fc.boolean(),
  settings: fc.record({
    context_tokens: fc.constantFrom(200_000, 200_000, 4000),
    history_max_messages: fc.constantFrom(200, 200, 12),
    context_media_bytes: fc.constantFrom(20_971_520, 20_971_520, 40),
    compaction: fc.constantFrom('summary' as const, 'drop' as const),
  }),
  questions: fc.array(anyQuestion, { minLength: 2, maxLength: 9 }),
});
type Conversation = Parameters<Parameters<typeof anyConversation.map>[0]>[0];
type Question = Conversation['questions'][number];
type Round = Question['rounds'][number];

// The wires: what the provider reads of a request, as one text.

function bodyOf(wire: Conversation['wire'], request: ModelRequest): Json {
  if (wire === 'anthropic') return { ...anthropicRequest(request, MODEL) };
  if (wire === 'chat') return { ...chatRequest(request, MODEL, 'https://models.example/v1') };
  return { ...responsesRequest(request, MODEL) };
}

/** Tools, system prompt and messages in the order of the wire, without the marks of the cache. */
function readBy({ tools, system, instructions, messages, input }: Json): string {
  const said = ((messages ?? input) as Json[]).map(({ role, content, ...rest }) => {
    const opening = role === undefined ? '' : `<${role as string} ${JSON.stringify(rest)}>`;
    return role === undefined ? JSON.stringify(rest) : `${opening}${partsOf(content)}`;
  });
  return [unmarked(tools), unmarked(system), unmarked(instructions), ...said].join('\n');
}

function partsOf(content: unknown): string {
  if (!Array.isArray(content)) return `<text>${String(content)}`;
  return (content as Json[])
    .map((part) =>
      part['type'] === 'text' || part['type'] === 'input_text'
        ? `<text>${String(part['text'])}`
        : unmarked(part),
    )
    .join('');
}

function unmarked(value: unknown): string {
  return JSON.stringify([value], (name, part: unknown) => (name === 'cache_control' ? undefined : part));
}

/** Fails unless what holds for one call only stands at the very end. */
function prefixOf(wire: Conversation['wire'], request: ModelRequest): string {
  const whole = readBy(bodyOf(wire, request));
  const trailing = request.trailing ?? '';
  if (trailing.trim() === '') return whole;
  const frames = { anthropic: ['\n<user {}><text>', '<text>'], chat: ['<text>', '\n\n'], responses: [] };
  const before = [...frames[wire], '\n<user {}><text>', '\n<developer {}><text>'];
  const end = before.find((frame) => whole.endsWith(frame + trailing));
  if (end === undefined) throw new Error('what holds for this message only does not stand at the end');
  return whole.slice(0, -(end + trailing).length);
}

/** What the provider wants back with a round in which the model thought. */
function stateOf(wire: Conversation['wire'], text: string, calls: readonly ModelToolCall[]): unknown {
  const thought = 'The user wants to know.';
  if (wire === 'chat') return { kind: 'openai', wire, model: MODEL, items: [{ reasoning_content: thought }] };
  const said = text.trim() === '' ? [] : [text];
  return wire === 'anthropic'
    ? {
        ...{ kind: 'anthropic', wire: 'messages', model: MODEL },
        items: [
          { type: 'thinking', thinking: thought, signature: 'c2ln' },
          ...said.map((one) => ({ type: 'text', text: one })),
          ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
        ],
      }
    : {
        ...{ kind: 'openai', wire, model: MODEL },
        items: [
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2ln' },
          ...said.map((one) => ({ role: 'assistant', content: one })),
          ...calls.map(({ id, name, arguments: args }) => ({
            ...{ type: 'function_call', call_id: id, name },
            arguments: JSON.stringify(args),
          })),
        ],
      };
}

/** Says what the conversation has it say. */
class WrittenModel extends ModelProvider {
  readonly name = 'written';
  readonly defaultModel = MODEL;
  readonly requests: ModelRequest[] = [];
  private rounds: readonly Round[] = [];
  private question!: Question;
  private calls = 0;

  constructor(private readonly conversation: Pick<Conversation, 'wire' | 'numbersCalls'>) {
    super();
  }

  isAsked(question: Question): void {
    this.question = question;
    this.rounds = [...question.rounds];
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    this.requests.push({ ...request, messages: [...request.messages] });
    await Promise.resolve();
    const [round, ...rest] = this.rounds;
    this.rounds = rest;
    const text = round?.text ?? this.question.answer;
    if (text !== '') yield { type: 'token', text };
    if (round === undefined && this.question.ends === 'model fails') throw new Error('overloaded');
    const calls = (round?.calls ?? []).map(({ name, arguments: args }, index) => {
      this.calls += 1;
      return { id: `call_${this.conversation.numbersCalls ? index : this.calls}`, name, arguments: args };
    });
    for (const call of calls) yield { type: 'tool_call', call };
    const state = round?.thinks === true ? stateOf(this.conversation.wire, text, calls) : undefined;
    yield {
      ...{ type: 'end', finishReason: calls.length > 0 ? 'tool_calls' : 'stop', model: MODEL },
      usage: { input: 1, output: 1 },
      ...(state === undefined ? {} : { providerState: state }),
    };
  }
}

/** A session as the database keeps it, between the real assembly of prompts and the real loop of a turn. */
class Session {
  readonly model: WrittenModel;
  /** Places in `model.requests` at which something was cut or summed up. */
  readonly cutAt = new Set<number>();
  /** The same for results of a turn's own rounds. */
  readonly cutWithinAt = new Set<number>();
  private readonly history: PlacedMessage[] = [];
  private readonly steps = new Map<string, TurnStep[]>();
  private readonly bytes = new Map<string, Buffer>();
  private readonly settings: { current: GatewaySettings };
  private cut: ContextCut = { messages: 0, results: 0 };
  private summary: Summary | undefined;
  private question!: Question;

  constructor(private readonly conversation: Conversation) {
    this.model = new WrittenModel(conversation);
    const { agent, ...defaults } = settingsSchema.parse({});
    const bounds = { max_output_tokens: 1000, system_prompt: 'Be brief.', ...conversation.settings };
    this.settings = { current: { ...defaults, agent: { ...agent, ...bounds } } };
  }

  async ask(question: Question): Promise<void> {
    this.question = question;
    this.model.isAsked(question);
    const seq = (this.history.at(-1)?.seq ?? 0) + 1;
    const message = this.messageOf(question, seq);
    const texts: string[] = [];
    const emit = (event: { type: string; text?: string }): void => {
      if (event.type === 'token') texts.push(event.text ?? '');
    };
    const turn = this.turnOf(seq);
    const terms = {
      agent: turnAgent(this.model, MODEL, this.settings.current),
      account: FREE_ACCOUNT,
      emit,
      signal: patient,
      waits: new ApprovalWaits({ parkAfterMs: () => 0, onIdle: () => undefined, park: () => undefined }),
    };
    const input = await this.prompt().inputOf(turn, message, terms);
    const content = await this.runner()
      .run(input, emit, patient)
      .then((outcome) => outcome.content)
      .catch(() => undefined);
    const { data: _, ...info } = message.attachments[0] ?? { data: undefined };
    const attachments = message.attachments.length > 0 ? [info as PlacedMessage['attachments'][0]] : [];
    this.keep(seq, 'user', { content: message.content, attachments });
    const calls = this.stepsOf(seq).flatMap((step) => (step.kind === 'asked' ? step.calls : []));
    if (content === undefined && texts.length === 0 && calls.length === 0) return;
    const incomplete = content !== undefined ? null : question.ends === 'cancelled' ? 'cancelled' : 'failed';
    const toolCalls = calls.map((call) => ({ ...call }) as unknown as ToolCallRecord);
    this.keep(seq + 1, 'assistant', { content: content ?? texts.join(''), incomplete, toolCalls });
  }

  private keep(seq: number, role: PlacedMessage['role'], more: Partial<PlacedMessage>): void {
    const nothing = { attachments: [], toolCalls: [], tokensUsed: 0, model: null, incomplete: null };
    const others = { finishReason: null, usageEstimated: false, createdAt: new Date(0), content: '' };
    this.history.push({ id: `msg_${seq}`, seq, role, ...nothing, ...others, ...more });
  }

  private messageOf({ content, image }: Question, seq: number): NewUserMessage {
    const data = Buffer.from(`picture ${seq}`);
    const attachment: NewAttachment = {
      ...{ id: `att_${seq}`, type: 'image', name: null, mimeType: 'image/png' },
      ...{ sizeBytes: data.length, data },
    };
    if (image) this.bytes.set(attachment.id, data);
    return { content, attachments: image ? [attachment] : [], systemNote: this.conversation.note };
  }

  private turnOf(seq: number): CalledTurn {
    const { history_max_messages: most } = this.settings.current.agent;
    return {
      lease: { sessionId: 'sess_1', turnId: `turn_${seq}`, userMessageId: `msg_${seq}`, fence: seq },
      ...{
        userId: 'ada',
        channel: 'api',
        agent: 'default',
        systemPrompt: this.conversation.systemPrompt,
        model: null,
        seq,
      },
      ...{
        cut: this.cut,
        summary: this.cut.messages > 0 ? this.summary : undefined,
        isWatched: false,
        hasMemories: true,
      },
      history: this.history.filter((one) => one.seq > this.cut.messages).slice(-most),
      caller: { tokenId: 'tok', tokenName: 'test' } as CalledTurn['caller'],
    };
  }

  private stepsOf(seq: number): TurnStep[] {
    return this.steps.get(`msg_${seq + 1}`) ?? [];
  }

  private prompt(): TurnPrompt {
    const sources = new PromptSources(logs);
    const { trailing } = this.question;
    sources.add({ name: 'both', additionFor: () => ({ system: this.conversation.catalogue, trailing }) });
    const registry = new ToolRegistry(new ToolPolicy(this.settings), new ArgumentChecks());
    for (const name of this.question.tools)
      registry.register({
        ...{ name, description: `Does ${name}.`, inputSchema: { type: 'object' } },
        run: () => Promise.resolve(''),
      });
    const messages = {
      attachedTo: () => Promise.resolve(this.bytes),
      before: () => Promise.resolve({ messages: [], hasMore: false }),
    } as unknown as MessageStore;
    return new TurnPrompt(
      ...([sources, registry, new ToolSources(), messages] as const),
      ...([this.stepsStore(), this.cutsStore(), this.summaries()] as const),
      this.settings,
      logs,
    );
  }

  private stepsStore(): TurnStepsStore {
    const seqOf = (id: string) => Number(id.slice('msg_'.length));
    return {
      open: ({ fence: seq }: { fence: number }) => ({
        add: (step: TurnStep) => {
          if (step.kind === 'cut') this.cutWithinAt.add(this.model.requests.length);
          const kept = JSON.parse(JSON.stringify(step)) as TurnStep;
          this.steps.set(`msg_${seq + 1}`, [...this.stepsOf(seq), kept]);
          return Promise.resolve();
        },
      }),
      of: (_: string, ids: readonly string[], cut: number) =>
        Promise.resolve(
          new Map(
            ids.map((id) => [
              id,
              (this.steps.get(id) ?? []).filter(({ kind }) => kind === 'asked' || seqOf(id) > cut),
            ]),
          ),
        ),
    } as unknown as TurnStepsStore;
  }

  private cutsStore(): ContextCutsStore {
    return {
      store: (_: unknown, cut: ContextCut, summary?: Summary) => {
        this.cut = cut;
        this.summary = summary ?? this.summary;
        this.cutAt.add(this.model.requests.length);
        return Promise.resolve();
      },
    } as unknown as ContextCutsStore;
  }

  private summaries(): Summaries {
    return {
      sumUp: ({ last }: SummarySource) =>
        Promise.resolve({
          summary: { first: 1, last, model: MODEL, content: `What was said up to ${last}.` },
          usage: { input: 1, output: 1 },
        }),
    } as unknown as Summaries;
  }

  private runner(): TurnRunner {
    const metrics = {
      measure: (_provider: unknown, _request: unknown, call: () => unknown) => call(),
      used: () => undefined,
    } as unknown as ModelCallMetrics;
    return new TurnRunner(
      new ModelCalls(metrics, forgetfulHealth, noFailovers),
      this.tools(),
      new ArgumentChecks(),
      new RunningTurns(),
      this.settings,
    );
  }

  /** Tools return what is written; of the last round of a cancelled turn all but the first are never answered. */
  private tools(): ToolCallRunner {
    const { rounds, ends } = this.question;
    const written = rounds.flatMap(({ calls }) => calls);
    const firstOfLast = written.length - (rounds.at(-1)?.calls.length ?? 0);
    let ran = 0;
    return {
      mayWait: () => false,
      run: async ({ id }: ModelToolCall) => {
        const index = ran;
        ran += 1;
        if (ends === 'cancelled' && index > firstOfLast) throw new Error('cancelled');
        await Promise.resolve();
        const { result: content = '', draws = false } = written[index] ?? {};
        const picture = { type: 'image' as const, mimeType: 'image/png', data: 'A'.repeat(40) };
        const parts = draws ? { parts: [picture] } : {};
        const result = { callId: id, content, isError: index % 3 === 2, ...parts };
        return { record: { id } as ToolCallRecord, result };
      },
      refuse: ({ id }: ModelToolCall) =>
        Promise.resolve({
          record: { id } as ToolCallRecord,
          result: { callId: id, content: 'Too many.', isError: true },
        }),
    } as unknown as ToolCallRunner;
  }
}

/** STABLE_PREFIX_SEED repeats a run. */
const SEED = Number(process.env['STABLE_PREFIX_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const leftOutIn = (prefix: string): number =>
  prefix.split('is left out, because this conversation holds many').length;

test('The prefix is stable: byte-equality of the prefix between consecutive calls over 200 generated conversations', async () => {
  process.stdout.write(`stable prefix: STABLE_PREFIX_SEED=${SEED}\n`);
  let compared = 0;
  let cut = 0;
  let pictures = 0;
  let within = 0;
  await fc.assert(
    fc.asyncProperty(anyConversation, async (conversation) => {
      const session = new Session(conversation);
      for (const question of conversation.questions) await session.ask(question);
      const { requests } = session.model;
      const prefixes = requests.map((request) => prefixOf(conversation.wire, request));
      for (const [index, later] of prefixes.entries()) {
        const earlier = prefixes[index - 1];
        if (earlier === undefined) continue;
        if (session.cutWithinAt.has(index)) {
          within += 1;
          continue;
        }
        if (session.cutAt.has(index)) {
          cut += 1;
          continue;
        }
        if (leftOutIn(later) > leftOutIn(earlier)) {
          pictures += 1;
          continue;
        }
        compared += 1;
        expect(later.startsWith(earlier)).toBe(true);
      }
    }),
    { numRuns: 200, seed: SEED },
  );
  // A block goes at a time, so that a new beginning holds for many calls.
  expect(compared).toBeGreaterThan(1000);
  expect(cut).toBeGreaterThan(0);
  expect(cut).toBeLessThan(compared / 5);
  process.stdout.write(`${JSON.stringify({ compared, cut, within, pictures })}\n`);
  expect(within).toBeGreaterThan(0);
  expect(within).toBeLessThan(compared / 2);
  expect(pictures).toBeGreaterThan(0);
  expect(pictures).toBeLessThan(compared / 5);
}, 300_000);
