import {
  callOptions,
  callsOf,
  collect,
  endOf,
  modelRequest,
  rejection,
  textOf,
  userMessage,
} from '../../../../../test/harness/model-call.js';
import type { ModelMessage, ModelRequest } from '../../model-provider.port.js';
import { OfflineProvider } from './offline.provider.js';

const tools = [
  { name: 'get_weather', description: 'Tells the weather of a city.', inputSchema: { type: 'object' } },
  { name: 'files__readFile', description: 'Reads text.', inputSchema: { type: 'object' } },
  { name: 'notes', description: '记录笔记', inputSchema: { type: 'object' } },
];
const provider = new OfflineProvider();

function ask(messages: ModelMessage[] | string, more: Partial<ModelRequest> = {}) {
  const given = typeof messages === 'string' ? [userMessage(messages)] : messages;
  return collect(provider.stream(modelRequest(given, { tools, ...more }), callOptions()));
}

describe('without a model', () => {
  it('the answer says so, and names the settings to make', async () => {
    const text = textOf(await ask('hello there', { tools: [] }));
    expect(text).toMatch(/^No model is configured/);
    for (const name of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', '[provider]', 'base_url', 'gateway.toml'])
      expect(text).toContain(name);
  });

  it('nothing of the message is repeated', async () => {
    for (const message of [
      'hunter2',
      '/call hunter2! {}',
      '/call get_weather {hunter2',
      '/call get_weather "hunter2"',
    ])
      expect(textOf(await ask(message))).not.toContain('hunter2');
  });

  it('the same question gets the same answer and the same counts', async () => {
    expect(await ask('weather')).toEqual(await ask('weather'));
  });

  it.each([
    ['How is the WEATHER in Bern?', 'get_weather'],
    ['read the file please', 'files__readFile'],
    ['请帮我记录一下', 'notes'],
  ])('%s is answered with the tools that match', async (message, name) => {
    const lines = textOf(await ask(message)).split('\n');
    const named = lines.filter((line) => line.startsWith('- ')).map((line) => line.slice(2).split(':')[0]);
    expect(named).toEqual([name]);
  });

  it('common words match nothing', async () => {
    expect(textOf(await ask('what is the of a'))).not.toContain('Tools that match');
  });

  it('/tools lists all of them', async () => {
    const text = textOf(await ask(' /tools '));
    for (const tool of tools) expect(text).toContain(`- ${tool.name}: ${tool.description}`);
    expect(textOf(await ask('/tools', { tools: [] }))).toBe('There are no tools.');
  });

  it('/call calls, several lines call in parallel, and every call has its own id', async () => {
    const events = await ask(
      '/call get_weather {"city":"Bern"}\r\n/call get_weather {"city": "Basel"}\n/call notes',
    );
    expect(callsOf(events)).toEqual([
      { id: 'call_1_1', name: 'get_weather', arguments: { city: 'Bern' } },
      { id: 'call_1_2', name: 'get_weather', arguments: { city: 'Basel' } },
      { id: 'call_1_3', name: 'notes', arguments: {} },
    ]);
    expect(endOf(events).finishReason).toBe('tool_calls');
    expect(textOf(events)).toBe('');
  });

  it.each([
    ['/call nothing {}', 'There is no tool named nothing. /tools lists those there are.'],
    ['/call', 'A /call needs the name of a tool: /call NAME {json}.'],
    ['/call notes [1]', 'notes was not called: what follows its name is not a JSON object.'],
    ['/call notes {"a":', 'notes was not called: what follows its name is not a JSON object.'],
  ])('%s is explained', async (message, text) => {
    const events = await ask(message);
    expect(textOf(events)).toBe(text);
    expect(endOf(events).finishReason).toBe('stop');
  });

  it('calls that are possible are made, next to those that are not', async () => {
    const events = await ask('/call notes {}\n/call nothing {}');
    expect(callsOf(events)).toHaveLength(1);
    expect(textOf(events)).toContain('nothing');
    expect(endOf(events).finishReason).toBe('tool_calls');
  });

  it('one result is the answer, a failure is given as one, and several have their names', async () => {
    const calls = [
      { id: 'a', name: 'get_weather', arguments: {} },
      { id: 'b', name: 'notes', arguments: {} },
    ];
    const answerTo = (...results: { callId: string; content: string; isError: boolean }[]) =>
      ask([userMessage('x'), { role: 'assistant', text: '', toolCalls: calls }, { role: 'tool', results }]);
    const sun = { callId: 'a', content: '  sun\n\n and  wind ', isError: false };
    const bad = { callId: 'b', content: 'no ink', isError: true };
    expect(textOf(await answerTo(sun))).toBe(sun.content);
    expect(textOf(await answerTo(bad))).toBe('The tool failed: no ink');
    expect(textOf(await answerTo(sun, bad))).toBe(
      `get_weather: ${sun.content}\nnotes: The tool failed: no ink`,
    );
    expect(endOf(await answerTo(sun)).finishReason).toBe('stop');
  });

  it('words arrive one by one', async () => {
    const events = await ask([
      { role: 'tool', results: [{ callId: 'a', content: 'one two\nthree', isError: false }] },
    ]);
    const words = events.flatMap((event) => (event.type === 'token' ? [event.text] : []));
    expect(words).toEqual(['one', ' two', '\nthree']);
  });

  it('usage is one token for every four characters, rounded up', async () => {
    const messages: ModelMessage[] = [
      userMessage('12345'),
      { role: 'tool', results: [{ callId: 'a', content: 'abcde', isError: false }] },
    ];
    const events = await ask(messages, { system: '123' });
    expect(endOf(events)).toMatchObject({ usage: { input: 4, output: 2 }, model: 'offline' });
  });

  it('an answer is cut at its limit', async () => {
    const events = await ask('hello', { maxOutputTokens: 2 });
    expect(textOf(events)).toBe('No model');
    expect(endOf(events).finishReason).toBe('length');
  });

  it('an abort ends the answer with its reason', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const words: string[] = [];
    const error = await rejection(
      (async () => {
        for await (const event of provider.stream(
          modelRequest([userMessage('hi')]),
          callOptions({ signal: abort.signal }),
        )) {
          if (event.type === 'token') words.push(event.text);
          abort.abort(reason);
        }
      })(),
    );
    expect(error).toBe(reason);
    expect(words).toEqual(['No']);
  });

  it('a line designed to be slow to parse is not slow', async () => {
    const events = await ask(`/call ${'x'.repeat(300_000)}\u2028`);
    expect(textOf(events)).toBe('There is no tool of that name. /tools lists those there are.');
  });
});
