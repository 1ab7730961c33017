import type { ModelTool, ModelToolCall } from '../../model-provider.port.js';
import { parseToolArguments } from '../wire/tool-arguments.js';

export interface OfflineCommands {
  readonly calls: readonly ModelToolCall[];
  /** Why a line calls nothing, in the lines' order. */
  readonly complaints: readonly string[];
}

/** Most `/call` lines of one message that are looked at. */
const MAX_CALLS = 64;
const CALL_LINE = /^\/call(?:\s+(\S+)\s*(.*))?$/s;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Reads the lines `/call NAME {json}` of a message. `idPrefix` keeps the ids of a session apart. */
export function offlineCommands(
  message: string,
  tools: readonly ModelTool[],
  idPrefix: string,
): OfflineCommands {
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

/** What is no name of a tool is not repeated: it could be anything, a secret included. */
function unknownTool(name: string): string {
  if (name === '') return 'A /call needs the name of a tool: /call NAME {json}.';
  return TOOL_NAME.test(name)
    ? `There is no tool named ${name}. /tools lists those there are.`
    : 'There is no tool of that name. /tools lists those there are.';
}
