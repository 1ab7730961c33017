import {
  type ModelCallOptions,
  type ModelEvent,
  type ModelMessage,
  ModelProvider,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
} from '../../model-provider.port.js';
import { oneLine } from '../protocol/attachment-text.js';
import { parseToolArguments } from '../protocol/tool-arguments.js';
import { DEFAULT_MODELS } from '../provider-choice.js';

export interface OfflineCommands {
  readonly calls: readonly ModelToolCall[];
  /** Why a line calls no tool, in the order of the lines. */
  readonly complaints: readonly string[];
}

/** How many `/call` lines of one message are read at most. */
const MAX_CALLS = 64;
const CALL_LINE = /^\/call(?:\s+(\S+)\s*(.*))?$/s;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Reads the lines `/call NAME {json}` of a message. `idPrefix` keeps the ids of a session apart. */
function offlineCommands(message: string, tools: readonly ModelTool[], idPrefix: string): OfflineCommands {
  const calls: ModelToolCall[] = [];
  const complaints: string[] = [];
  const names = new Set(tools.map((tool) => tool.name));
  for (const [, name = '', json = ''] of callLines(message)) {
    const { arguments: given, problem } = parseToolArguments(json);
    if (!names.has(name)) complaints.push(unknownTool(name));
    else if (problem !== undefined)
      complaints.push(`${name} was not called: what follows its name is not a JSON object.`);
    else calls.push({ id: `${idPrefix}_${calls.length + 1}`, name, arguments: given });
  }
  return { calls, complaints };
}

function callLines(message: string): RegExpMatchArray[] {
  const lines = message.split(/\r\n|\n|\r/).map((line) => line.trim().match(CALL_LINE));
  return lines.filter((match) => match !== null).slice(0, MAX_CALLS);
}

/** Text that is no tool's name is not repeated: it could be anything, even a secret. */
function unknownTool(name: string): string {
  if (name === '') return 'A /call needs the name of a tool: /call NAME {json}.';
  return TOOL_NAME.test(name)
    ? `There is no tool named ${name}. /tools lists those there are.`
    : 'There is no tool of that name. /tools lists those there are.';
}

/** How many tools are named as matches at most. */
const MAX_MATCHES = 10;
/** How many characters of a message or a description are read at most. */
const MAX_CHARS = 4000;
/** Words that say nothing about a tool. */
const COMMON = new Set(
  'a an and are as at be by can do for from how i if in is it me my of on or please the this to what with you'.split(
    ' ',
  ),
);
/** Finds words also in scripts without spaces between them. */
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** The tools whose name or description shares words with the message, best first, by name where equal. */
function matchingTools(message: string, tools: readonly ModelTool[]): ModelTool[] {
  const wanted = wordsOf(message);
  if (wanted.size === 0) return [];
  return tools
    .map((tool) => ({ tool, score: sharedWords(tool, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .slice(0, MAX_MATCHES)
    .map(({ tool }) => tool);
}

function sharedWords(tool: ModelTool, wanted: ReadonlySet<string>): number {
  const words = wordsOf(`${tool.name} ${tool.description}`);
  return [...wanted].filter((word) => words.has(word)).length;
}

function wordsOf(text: string): Set<string> {
  const spaced = text
    .slice(0, MAX_CHARS)
    .replace(/[_-]+/g, ' ')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
  const words = new Set<string>();
  for (const { segment, isWordLike } of segmenter.segment(spaced.toLowerCase())) {
    if (isWordLike && !COMMON.has(segment)) words.add(segment);
  }
  return words;
}

export interface OfflineAnswer {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;
type UserMessage = Extract<ModelMessage, { role: 'user' }>;

const MAX_DESCRIPTION_CHARS = 160;
const NO_MODEL =
  'No model is configured, so the gateway itself is answering. To talk to a model, set ANTHROPIC_API_KEY or ' +
  'OPENAI_API_KEY, or set kind (anthropic or openai) and, for a compatible server, base_url under [provider] in ' +
  'gateway.toml, and restart the gateway.';
const HOW_TO_CALL = 'Tools work without a model: /tools lists them, and /call NAME {json} runs one.';

/** The answer without a model: the same request always gets the same answer, without any words of the user. */
function offlineAnswer(request: ModelRequest): OfflineAnswer {
  const tools = request.sampling?.toolChoice === 'none' ? [] : request.tools;
  const last = request.messages.at(-1);
  if (last?.role === 'tool') return { text: resultText(last, request.messages), calls: [] };
  const message = last?.role === 'user' ? textOf(last) : '';
  if (/^\s*\/tools\s*$/.test(message)) return { text: toolList(tools), calls: [] };
  const { calls, complaints } = offlineCommands(message, tools, `call_${request.messages.length}`);
  if (calls.length > 0 || complaints.length > 0) return { text: complaints.join('\n'), calls };
  return { text: noModel(message, tools), calls: [] };
}

function textOf(message: UserMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function toolList(tools: readonly ModelTool[]): string {
  return tools.length === 0 ? 'There are no tools.' : `The tools:\n${tools.map(toolLine).join('\n')}`;
}

function toolLine(tool: ModelTool): string {
  const description = oneLine(tool.description);
  const short =
    description.length > MAX_DESCRIPTION_CHARS
      ? `${description.slice(0, MAX_DESCRIPTION_CHARS - 1)}…`
      : description;
  return short === '' ? `- ${tool.name}` : `- ${tool.name}: ${short}`;
}

function noModel(message: string, tools: readonly ModelTool[]): string {
  if (tools.length === 0) return NO_MODEL;
  const matches = matchingTools(message, tools);
  const found =
    matches.length === 0 ? [] : [`Tools that match your message:\n${matches.map(toolLine).join('\n')}`];
  return [NO_MODEL, ...found, HOW_TO_CALL].join('\n\n');
}

/** One result is returned as it is; several come with the names of their tools. */
function resultText(message: ToolMessage, history: readonly ModelMessage[]): string {
  const texts = message.results.map(({ content, isError }) =>
    isError ? `The tool failed: ${content}` : content,
  );
  if (texts.length === 1) return texts[0] ?? '';
  const names = toolNames(history);
  return message.results
    .map(({ callId }, index) => `${names.get(callId) ?? callId}: ${texts[index]}`)
    .join('\n');
}

function toolNames(history: readonly ModelMessage[]): Map<string, string> {
  const calls = history.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
  return new Map(calls.map((call) => [call.id, call.name]));
}

/** No model reads this: one token for every four characters, rounded up. */
const CHARS_PER_TOKEN = 4;

/** Stands in while no model is configured: deterministic, says so plainly, and runs tools on request. */
export class OfflineProvider extends ModelProvider {
  readonly name = 'offline';
  readonly defaultModel = DEFAULT_MODELS.offline;

  override async *stream(
    request: ModelRequest,
    options: ModelCallOptions,
  ): AsyncGenerator<ModelEvent, undefined> {
    options.signal.throwIfAborted();
    const { text, calls } = offlineAnswer(request);
    const kept = text.slice(0, request.maxOutputTokens * CHARS_PER_TOKEN);
    for (const [word] of kept.matchAll(/\s*\S+|\s+$/g)) {
      yield { type: 'token', text: word };
      options.signal.throwIfAborted();
    }
    for (const call of calls) yield { type: 'tool_call', call };
    const cut = kept.length < text.length;
    const finishReason = calls.length > 0 ? 'tool_calls' : cut ? 'length' : 'stop';
    const usage = {
      input: tokens(inputChars(request)),
      output: tokens(kept.length + JSON.stringify(calls).length - 2),
    };
    yield { type: 'end', finishReason, usage, model: DEFAULT_MODELS.offline };
  }
}

const tokens = (chars: number) => Math.ceil(chars / CHARS_PER_TOKEN);

function inputChars(request: ModelRequest): number {
  const around = request.system.length + (request.trailing ?? '').length;
  return request.messages.reduce((sum, message) => sum + messageChars(message), around);
}

function messageChars(message: ModelMessage): number {
  if (message.role === 'assistant') return message.text.length;
  if (message.role === 'tool') return message.results.reduce((sum, result) => sum + result.content.length, 0);
  return message.parts.reduce(
    (sum, part) => sum + (part.type === 'text' ? part.text.length : part.data.length),
    0,
  );
}
