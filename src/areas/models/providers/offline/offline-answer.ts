import type { ModelMessage, ModelRequest, ModelTool, ModelToolCall } from '../../model-provider.port.js';
import { oneLine } from '../wire/attachment-text.js';
import { matchingTools } from './matching-tools.js';
import { offlineCommands } from './offline-commands.js';

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

/** What is answered without a model: the same request always gets the same answer, and no words of the user's. */
export function offlineAnswer(request: ModelRequest): OfflineAnswer {
  const last = request.messages.at(-1);
  if (last?.role === 'tool') return { text: resultText(last, request.messages), calls: [] };
  const message = last?.role === 'user' ? textOf(last) : '';
  if (/^\s*\/tools\s*$/.test(message)) return { text: toolList(request.tools), calls: [] };
  const { calls, complaints } = offlineCommands(message, request.tools, `call_${request.messages.length}`);
  if (calls.length > 0 || complaints.length > 0) return { text: complaints.join('\n'), calls };
  return { text: noModel(message, request.tools), calls: [] };
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

/** One result is answered as it is; several carry the names of their tools. */
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
