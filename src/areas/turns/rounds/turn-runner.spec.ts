import { forgetfulHealth, noFailovers, turnAgent } from '../../../../test/harness/turn-agent.js';
import { type GatewaySettings, settingsSchema } from '../../../platform/settings/settings.schema.js';
import type { SpanContent } from '../../../platform/tracing/span-content.js';
import type { ModelCallMetrics } from '../../models/model-call-metrics.js';
import {
  type ModelCallOptions,
  type ModelEvent,
  ModelProvider,
  type ModelRequest,
  type ModelToolCall,
} from '../../models/model-provider.port.js';
import type { ToolQuestions } from '../../tools/questions/tool-questions.js';
import { ArgumentChecks } from '../../tools/schemas/argument-checks.js';
import { type ApprovalVerdict, ToolApprovals } from '../../tools/tool-approvals.port.js';
import type { ToolCallLog } from '../../tools/tool-call-log.js';
import { ToolCallRunner } from '../../tools/tool-call-runner.js';
import { ToolGate } from '../../tools/tool-gate.js';
import { ToolPolicy } from '../../tools/tool-policy.js';
import { type RegisteredTool, ToolRegistry } from '../../tools/tool-registry.js';
import { RunningTurns } from '../running-turns.js';
import type { TurnEvent, TurnInput } from '../turn.js';
import type { TurnAccount } from '../turn-account.js';
import { TurnAwaitsApproval } from '../turns.errors.js';
import { ApprovalWaits } from './approval-waits.js';
import { ModelCalls } from './model-calls.js';
import { TurnRunner } from './turn-runner.js';
import type { TurnStep } from './turn-steps.store.js';

/** What turns cost is seen in the tests of the whole gateway. */
const FREE_ACCOUNT: TurnAccount = {
  beforeCall: () => undefined,
  called: () => undefined,
  takeUnstored: () => [],
  budgetsToAsk: () => undefined,
  learn: () => undefined,
};

type Round = {
  failure?: Error;
  text?: string;
  calls?: ModelToolCall[];
  usage?: { input: number; output: number };
};

/** A model that says what the test wrote, round by round, and remembers what it was asked. */
class ScriptedModel extends ModelProvider {
  readonly name = 'scripted';
  readonly defaultModel = 'scripted-1';
  readonly requests: ModelRequest[] = [];

  constructor(private readonly rounds: (request: ModelRequest, number: number) => Round) {
    super();
  }

  async *stream(request: ModelRequest, options?: ModelCallOptions): AsyncIterable<ModelEvent> {
    this.requests.push({ ...request, messages: [...request.messages] });
    const round = this.rounds(request, this.requests.length);
    await Promise.resolve();
    if (round.failure !== undefined) {
      options?.onBegun?.();
      options?.onCounted?.(round.usage ?? { input: 1, output: 1 });
      throw round.failure;
    }
    if (round.text !== undefined) yield { type: 'token', text: round.text };
    for (const call of round.calls ?? []) yield { type: 'tool_call', call };
    const usage = round.usage ?? { input: 1, output: 1 };
    yield { type: 'end', finishReason: round.calls ? 'tool_calls' : 'stop', usage, model: 'scripted-1' };
  }
}

/** A model that has counted its input when it breaks off. */
const FAILS = (): Round => ({ usage: { input: 3, output: 2 }, failure: new Error('it broke off') });

class NobodyToAsk extends ToolApprovals {
  ask = (): Promise<ApprovalVerdict> => Promise.resolve('timeout');
  open = () => Promise.resolve([]);
  answer = () => Promise.resolve(false);
  onAnswer = () => undefined;
}

const input: Omit<TurnInput, 'tools' | 'steps' | 'agent'> = {
  context: { sessionId: 'sess_1', channel: 'api', userId: 'ada' },
  system: 'Be brief.',
  trailing: '',
  spent: { input: 0, output: 0 },
  done: [],
  options: {},
  waits: new ApprovalWaits({ parkAfterMs: () => 0, onIdle: () => undefined, park: () => undefined }),
  account: FREE_ACCOUNT,
  turnId: 'turn_1',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
};

const call = (id: string, name = 'echo', args: Record<string, unknown> = { text: id }): ModelToolCall => ({
  id,
  name,
  arguments: args,
});

const echo: RegisteredTool = {
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  run: (args) => Promise.resolve(`echo: ${String(args['text'])}`),
};

const mayCall = (request: ModelRequest): boolean => request.sampling?.toolChoice !== 'none';

function runnerOf(
  model: ModelProvider,
  tools: RegisteredTool[] = [],
  agent: Partial<GatewaySettings['agent']> = {},
  approvals: ToolApprovals = new NobodyToAsk(),
) {
  const defaults = settingsSchema.parse({});
  const settings = { current: { ...defaults, agent: { ...defaults.agent, ...agent } } };
  const policy = new ToolPolicy(settings);
  const registry = new ToolRegistry(policy, new ArgumentChecks());
  for (const tool of tools) registry.register(tool);
  const gate = new ToolGate(policy, registry, approvals, settings);
  // What is noted is seen in the tests of the whole gateway: it goes to the database.
  const metrics = {
    measure: (_provider: unknown, _request: unknown, call: () => unknown) => call(),
    used: () => undefined,
  } as unknown as ModelCallMetrics;
  const callLog = { note: () => Promise.resolve() } as unknown as ToolCallLog;
  const calls = new ToolCallRunner(
    registry,
    gate,
    callLog,
    {} as ToolQuestions,
    { isWanted: false } as SpanContent,
  );
  return {
    runner: new TurnRunner(
      new ModelCalls(metrics, forgetfulHealth, noFailovers),
      calls,
      new ArgumentChecks(),
      new RunningTurns(),
      settings,
    ),
    tools: registry.list(input.context),
    own: turnAgent(model, 'scripted-1', settings.current),
  };
}

async function run(
  { runner, tools, own }: ReturnType<typeof runnerOf>,
  signal = new AbortController().signal,
  more: Partial<TurnInput> = {},
) {
  const steps: TurnStep[] = [];
  const log = { add: (step: TurnStep) => Promise.resolve(void steps.push(structuredClone(step))) };
  const events: TurnEvent[] = [];
  const watch = (event: TurnEvent): void => {
    if (event.type !== 'usage') events.push(event);
  };
  const outcome = await runner.run({ ...input, agent: own, tools, steps: log, ...more }, watch, signal);
  return { outcome, events, steps };
}

test('an answer without tools is one call of the model', async () => {
  const model = new ScriptedModel(() => ({ text: 'Hi.', usage: { input: 7, output: 2 } }));
  const { outcome, events } = await run(runnerOf(model));
  expect(outcome).toEqual({
    content: 'Hi.',
    toolCalls: [],
    usage: { input: 7, output: 2 },
    model: 'scripted-1',
    finishReason: 'stop',
  });
  expect(events).toEqual([{ type: 'token', text: 'Hi.' }]);
  expect(model.requests).toHaveLength(1);
});

test.each([
  ['nothing', { input: 0, output: 0 }, { input: 3 + 8 + 2, output: 25 }],
  ['no input', { input: 0, output: 7 }, { input: 3 + 8 + 2, output: 7 }],
  ['no output', { input: 40, output: 0 }, { input: 40, output: 25 }],
])(
  'a count that the provider leaves out (%s) is estimated, and marked as an estimate',
  async (_what, usage, expected) => {
    const model = new ScriptedModel(() => ({ text: 'x'.repeat(100), usage }));
    const { outcome } = await run(runnerOf(model));
    expect(outcome.usage).toEqual({ ...expected, estimated: true });
  },
);

test('one estimated call makes the sum of a turn an estimate', async () => {
  const model = new ScriptedModel((_request, number) =>
    number === 1
      ? { calls: [call('1')], usage: { input: 10, output: 5 } }
      : { text: 'Done', usage: { input: 0, output: 0 } },
  );
  const { outcome } = await run(runnerOf(model, [echo]));
  expect(outcome.usage).toMatchObject({ output: 6, estimated: true });
  expect(outcome.usage.input).toBeGreaterThan(10);
});

test('a call that breaks off after its first word has used something; one that never started has not', async () => {
  class Breaking extends ScriptedModel {
    override async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
      for await (const event of super.stream(request)) if (event.type !== 'end') yield event;
      throw new Error('cut');
    }
  }
  const used: unknown[] = [];
  const watch = (event: TurnEvent): void => {
    if (event.type === 'usage') used.push(event.usage);
  };
  for (const text of ['x'.repeat(100), undefined]) {
    const { runner, own } = runnerOf(new Breaking(() => (text === undefined ? {} : { text })));
    const steps = { add: () => Promise.resolve() };
    const turn = runner.run({ ...input, agent: own, tools: [], steps }, watch, new AbortController().signal);
    await expect(turn).rejects.toThrow('cut');
  }
  expect(used).toEqual([{ input: 13, output: 25, estimated: true }]);
});

test.each([
  ['shows that it thinks', 'x'.repeat(100), { input: 40, cachedInput: 30, output: 25, estimated: true }],
  ['has begun to work unseen', '', { input: 40, cachedInput: 30, output: 0, estimated: true }],
])(
  'a call that is ended before its first word, while the model %s, costs its counted input',
  async (_what, thought, expected) => {
    const left = new AbortController();
    class Thinking extends ScriptedModel {
      override async *stream(_request: ModelRequest, options?: ModelCallOptions): AsyncIterable<ModelEvent> {
        await Promise.resolve();
        options?.onHeard?.();
        if (thought !== '') yield { type: 'reasoning', text: thought };
        options?.onBegun?.();
        options?.onCounted?.({ input: 40, cachedInput: 30, output: 1 });
        left.abort(new Error('left'));
        throw left.signal.reason;
      }
    }
    const { runner, own } = runnerOf(new Thinking(() => ({})));
    const used: unknown[] = [];
    const watch = (event: TurnEvent): void => {
      if (event.type === 'usage') used.push(event.usage);
    };
    const steps = { add: () => Promise.resolve() };
    const turn = runner.run({ ...input, agent: own, tools: [], steps }, watch, left.signal);
    await expect(turn).rejects.toThrow('left');
    expect(used).toEqual([expected]);
  },
);

test('what a database cannot store is removed from a tool call before anyone reads it', async () => {
  const strange = call('1\0', 'echo', { text: 'a\0b', '\ud800': ['\udc00'] });
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { calls: [strange] } : { text: '.' },
  );
  const { outcome, events } = await run(runnerOf(model, [echo]));
  expect(outcome.toolCalls).toMatchObject([{ id: '1', arguments: { text: 'ab', '\ufffd': ['\ufffd'] } }]);
  expect(events[0]).toMatchObject({ type: 'tool_call', id: '1', arguments: { text: 'ab' } });
});

test('the results of parallel tool calls are sent to the model, and usage is summed over the rounds', async () => {
  const model = new ScriptedModel((_request, number) =>
    number === 1
      ? { text: 'Let me see.', calls: [call('1'), call('2')], usage: { input: 10, output: 5 } }
      : { text: 'Done.', usage: { input: 20, output: 6 } },
  );
  const { outcome } = await run(runnerOf(model, [echo]));
  expect(outcome.content).toBe('Let me see.\n\nDone.');
  expect(outcome.usage).toEqual({ input: 30, output: 11 });
  expect(outcome.toolCalls.map(({ status, output }) => [status, output])).toEqual([
    ['success', 'echo: 1'],
    ['success', 'echo: 2'],
  ]);
  expect(model.requests[1]?.messages.slice(1)).toEqual([
    { role: 'assistant', text: 'Let me see.', toolCalls: [call('1'), call('2')] },
    {
      role: 'tool',
      results: [
        { callId: '1', content: 'echo: 1', isError: false },
        { callId: '2', content: 'echo: 2', isError: false },
      ],
    },
  ]);
});

test('calls and results are stored before they are acted on', async () => {
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { text: 'Let me see.', calls: [call('1'), call('2')] } : { text: 'Done.' },
  );
  const { steps } = await run(runnerOf(model, [echo]));
  const record = { status: 'success', durationMs: expect.any(Number) as number };
  expect(steps).toEqual([
    {
      kind: 'asked',
      text: 'Let me see.',
      calls: [call('1'), call('2')],
      model: 'scripted-1',
    },
    { kind: 'answered', result: { callId: '1', content: 'echo: 1', isError: false }, record },
    { kind: 'answered', result: { callId: '2', content: 'echo: 2', isError: false }, record },
  ]);
});

test('a turn without tools stores no step', async () => {
  expect((await run(runnerOf(new ScriptedModel(() => ({ text: 'Hi.' }))))).steps).toEqual([]);
});

test('a turn whose lease is lost before a tool runs does not run it', async () => {
  let ran = false;
  const note = (): Promise<string> => {
    ran = true;
    return Promise.resolve('ran');
  };
  const tool: RegisteredTool = { ...echo, run: note };
  const model = new ScriptedModel(() => ({ calls: [call('1')] }));
  const steps = { add: () => Promise.reject(new Error('lost')) };
  await expect(run(runnerOf(model, [tool]), undefined, { steps })).rejects.toThrow('lost');
  expect(ran).toBe(false);
});

test('a call that was allowed while its turn was handed over is neither made nor stored as sent', async () => {
  const letGo = new AbortController();
  const reason = new TurnAwaitsApproval(['appr_1']);
  const approvals = new NobodyToAsk();
  approvals.ask = () => {
    letGo.abort(reason);
    return Promise.resolve('allowed');
  };
  const made = jest.fn();
  const steps: TurnStep[] = [];
  const model = new ScriptedModel(() => ({ calls: [call('c1')] }));
  const gated = runnerOf(model, [{ ...echo, run: made }], { tool_approval: 'ask' }, approvals);
  const log = { add: (step: TurnStep) => Promise.resolve(void steps.push(step)) };
  await expect(run(gated, letGo.signal, { steps: log })).rejects.toBe(reason);
  expect(steps.map(({ kind }) => kind)).toEqual(['asked']);
  expect(made).not.toHaveBeenCalled();
});

test('ids that a provider uses twice in a conversation, or that no wire accepts, are replaced', async () => {
  const earlier = { role: 'assistant' as const, text: '', toolCalls: [call('1')] };
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { calls: [call('1'), call('2'), call('2'), call('a b')] } : { text: 'Done.' },
  );
  const { outcome } = await run(runnerOf(model, [echo]), undefined, {
    messages: [earlier, ...input.messages],
  });
  const ids = outcome.toolCalls.map(({ id }) => id);
  expect(new Set(ids).size).toBe(4);
  expect(ids[1]).toBe('2');
  expect(ids).not.toContain('1');
  expect(ids.every((id) => /^[a-zA-Z0-9_-]{1,64}$/.test(id))).toBe(true);
  const [asked, answered] = model.requests[1]!.messages.slice(-2);
  expect(asked?.role === 'assistant' && asked.toolCalls.map(({ id }) => id)).toEqual(ids);
  expect(answered?.role === 'tool' && answered.results.map(({ callId }) => callId)).toEqual(ids);
});

/** A tool whose server runs it as a task, unless it does so already. */
const lasting = (seen: unknown[]): RegisteredTool => ({
  ...echo,
  name: 'lasting',
  inputSchema: { type: 'object' },
  run: async (_args, { call: running }) => {
    const { task } = running ?? {};
    seen.push(task);
    if (task === undefined) await running?.keepTask({ id: 'task-1' });
    return 'done';
  },
});

test('a task is stored before it is waited for, and a turn that is taken up asks for it, whatever needs approval by then', async () => {
  const seen: unknown[] = [];
  const answering = (_request: unknown, number: number) =>
    number === 1 ? { calls: [call('1', 'lasting'), call('2', 'echo')] } : { text: 'Done.' };
  const { steps } = await run(runnerOf(new ScriptedModel(answering), [lasting(seen), echo]));
  const kept = { kind: 'sent', callId: '1', task: { id: 'task-1' } };
  expect(steps.filter(({ kind }) => kind === 'sent')).toEqual([kept]);
  const done = steps.filter(({ kind }) => kind === 'asked' || kind === 'sent');
  const model = new ScriptedModel(() => ({ text: 'Done.' }));
  const later = runnerOf(model, [lasting(seen), echo], { tool_approval: 'ask' });
  const { outcome } = await run(later, undefined, { done });
  expect(seen).toEqual([undefined, { id: 'task-1' }]);
  expect(outcome.toolCalls.map(({ name, output }) => [name, output.slice(0, 15)])).toEqual([
    ['echo', 'Outcome unknown'],
    ['lasting', 'done'],
  ]);
});

test('with agent.resume off no task is stored', async () => {
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { calls: [call('1', 'lasting')] } : { text: 'Done.' },
  );
  const { steps } = await run(runnerOf(model, [lasting([])], { resume: false }));
  expect(steps.map(({ kind }) => kind)).toEqual(['asked', 'answered']);
});

test('the streamed tokens, put together, are the content', async () => {
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { text: 'One.', calls: [call('1')] } : { text: 'Two.' },
  );
  const { outcome, events } = await run(runnerOf(model, [echo]));
  const streamed = events.flatMap((event) => (event.type === 'token' ? [event.text] : [])).join('');
  expect(streamed).toBe(outcome.content);
});

test('tools of one round run in parallel', async () => {
  let running = 0;
  let most = 0;
  const slow: RegisteredTool = {
    ...echo,
    run: async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return 'ok';
    },
  };
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { calls: [call('1'), call('2'), call('3')] } : { text: 'Done.' },
  );
  await run(runnerOf(model, [slow]));
  expect(most).toBe(3);
});

test('an unknown tool, arguments that do not fit and a tool that throws are results, not failures of the turn', async () => {
  const broken: RegisteredTool = {
    ...echo,
    name: 'broken',
    run: () => Promise.reject(new Error('out of paper')),
  };
  const invalid: ModelToolCall = {
    id: '4',
    name: 'echo',
    arguments: {},
    problem: 'The arguments are not JSON.',
  };
  const model = new ScriptedModel((_request, number) =>
    number === 1
      ? { calls: [call('1', 'nope'), call('2', 'echo', { text: 3 }), call('3', 'broken'), invalid] }
      : { text: 'I see.' },
  );
  const { outcome } = await run(runnerOf(model, [echo, broken]));
  expect(outcome.content).toBe('I see.');
  expect(outcome.toolCalls.map(({ status, output }) => `${status}: ${output}`)).toEqual([
    'error: There is no tool "nope".',
    'error: The arguments do not fit: data/text must be string.',
    'error: out of paper',
    'error: The arguments are not JSON.',
  ]);
});

test('calls past agent.max_tool_calls_per_turn get an error, and the model is asked once more without tools', async () => {
  const model = new ScriptedModel((request, number) =>
    mayCall(request) ? { calls: [call(`${number}a`), call(`${number}b`)] } : { text: 'Enough.' },
  );
  const { outcome } = await run(runnerOf(model, [echo], { max_tool_calls_per_turn: 3 }));
  expect(outcome.toolCalls.map(({ status }) => status)).toEqual(['success', 'success', 'success', 'denied']);
  expect(outcome.content).toBe('Enough.');
  expect(model.requests.map(mayCall)).toEqual([true, true, false]);
});

test('after agent.max_turns rounds the model is asked once more without tools, and calls it makes then are not run', async () => {
  const model = new ScriptedModel((_request, number) => ({
    text: `Round ${number}.`,
    calls: [call(String(number))],
  }));
  const { outcome } = await run(runnerOf(model, [echo], { max_turns: 2 }));
  expect(model.requests.map(mayCall)).toEqual([true, true, false]);
  expect(outcome.toolCalls).toHaveLength(2);
});

test('a tool that does not answer in time is a time-out, even when it obeys its signal', async () => {
  const deaf: RegisteredTool = { ...echo, name: 'deaf', run: () => new Promise(() => undefined) };
  const polite: RegisteredTool = {
    ...echo,
    name: 'polite',
    run: (_args, _context, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('I was stopped.')));
      }),
  };
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { calls: [call('1', 'deaf'), call('2', 'polite')] } : { text: 'Too slow.' },
  );
  const { outcome } = await run(runnerOf(model, [deaf, polite], { tool_timeout_ms: 30 }));
  expect(outcome.toolCalls.map(({ status }) => status)).toEqual(['timeout', 'timeout']);
});

test('an abort ends a turn in the middle of a tool call, with the reason of the abort', async () => {
  const abort = new AbortController();
  const seen: AbortSignal[] = [];
  const deaf: RegisteredTool = {
    ...echo,
    run: (_args, _context, signal) => {
      seen.push(signal);
      setTimeout(() => abort.abort(new Error('no longer wanted')), 5);
      return new Promise(() => undefined);
    },
  };
  const model = new ScriptedModel(() => ({ calls: [call('1')] }));
  await expect(run(runnerOf(model, [deaf]), abort.signal)).rejects.toThrow('no longer wanted');
  expect(seen[0]?.aborted).toBe(true);
});

test('a long output is cut at 16 KiB with a mark where it is stored, and the model is shown more of it', async () => {
  const long: RegisteredTool = { ...echo, run: () => Promise.resolve('ü'.repeat(20_000)) };
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { calls: [call('1')] } : { text: 'Long.' },
  );
  const { outcome } = await run(runnerOf(model, [long]));
  const [kept] = outcome.toolCalls;
  expect(kept?.output).toMatch(/^ü{8192}\n\[cut: 40000 bytes in all\]$/);
  const told = model.requests[1]?.messages.at(-1);
  expect(told?.role === 'tool' && told.results[0]?.content).toBe('ü'.repeat(20_000));
});

test('what a database cannot store does not reach the record', async () => {
  const odd: RegisteredTool = { ...echo, run: () => Promise.resolve('a\0b\ud800c') };
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { calls: [call('1')] } : { text: 'Odd.' },
  );
  const { outcome } = await run(runnerOf(model, [odd]));
  expect(outcome.toolCalls[0]?.output).toBe('ab\ufffdc');
});

describe('an answer that must have a format', () => {
  const responseFormat = {
    name: 'reply',
    schema: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } },
  };
  const options = { options: { responseFormat } };

  test('is shown whole, when it fits', async () => {
    const model = new ScriptedModel((_request, number) =>
      number === 1 ? { text: 'Let me see.', calls: [call('1')] } : { text: '{"n":1}' },
    );
    const { outcome, events } = await run(runnerOf(model, [echo]), undefined, options);
    expect(outcome.content).toBe('{"n":1}');
    expect(events.filter(({ type }) => type === 'token')).toEqual([{ type: 'token', text: '{"n":1}' }]);
    expect(model.requests.map((request) => request.responseFormat)).toEqual([responseFormat, responseFormat]);
  });

  test.each(['no JSON', '{"n":"one"}', ''])('is repaired once: %j', async (text) => {
    const model = new ScriptedModel((_request, number) => ({ text: number === 1 ? text : '{"n":2}' }));
    const { outcome, events } = await run(runnerOf(model, [echo]), undefined, options);
    expect(outcome.content).toBe('{"n":2}');
    expect(events).toEqual([{ type: 'token', text: '{"n":2}' }]);
    expect(model.requests).toHaveLength(2);
    expect(mayCall(model.requests[1]!)).toBe(false);
    expect(JSON.stringify(model.requests[1]!.messages.at(-1))).toContain('does not fit the format');
  });

  test('fails the turn when the repaired one does not fit either', async () => {
    const model = new ScriptedModel(() => ({ text: '{"n":"one"}' }));
    await expect(run(runnerOf(model), undefined, options)).rejects.toMatchObject({
      details: { reason: 'response_format_unmet' },
    });
    expect(model.requests).toHaveLength(2);
  });
});

test('options of the message apply to every call, but the choice of a tool only to the first', async () => {
  const sampling = { temperature: 0.5, topP: 0.9, stop: ['END'], toolChoice: 'required' as const };
  const model = new ScriptedModel((_request, number) =>
    number === 1 ? { calls: [call('1')] } : { text: '.' },
  );
  await run(runnerOf(model, [echo]), undefined, { options: { sampling, maxOutputTokens: 7 } });
  const { toolChoice: _first, ...rest } = sampling;
  expect(model.requests.map((request) => request.sampling)).toEqual([sampling, rest]);
  expect(model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([7, 7]);
});

test.each([
  ['answered', (): Round => ({ text: '.' })],
  ['broke off', FAILS],
])(
  'what a tool asked the model, which %s, is stored as spent before the tool continues',
  async (_what, sampled) => {
    const spending = [{ provider: 'p', model: 'm', usage: { input: 3, output: 2 }, costUsd: null }];
    let unstored: typeof spending = [];
    const account: TurnAccount = {
      ...FREE_ACCOUNT,
      called: () => {
        unstored = [...spending];
      },
      takeUnstored: () => unstored.splice(0),
    };
    const model = new ScriptedModel(({ tools, messages }) => {
      if (tools.length === 0) return sampled();
      return messages.length === 1 ? { calls: [call('1', 'asks', {})] } : { text: '.' };
    });
    const asks: RegisteredTool = {
      ...{ name: 'asks', description: 'Asks the model.', inputSchema: { type: 'object' } },
      run: async (_args, { call: running }) => {
        unstored = [];
        const question = { system: '', messages: input.messages, maxOutputTokens: 5 };
        await running?.sample(question, new AbortController().signal).catch(() => undefined);
        return 'asked';
      },
    };
    const { steps } = await run(runnerOf(model, [asks]), undefined, { account });
    expect(steps.map(({ kind }) => kind)).toEqual(['asked', 'spent', 'answered']);
    expect(steps[1]).toEqual({ kind: 'spent', spending });
  },
);
