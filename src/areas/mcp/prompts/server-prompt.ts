import { createHash } from 'node:crypto';
import type { CallToolResult, Client, GetPromptResult, RequestOptions } from '@modelcontextprotocol/client';

/** What an argument of a prompt is for. */
interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
}

/** A text that a server offers people to ask for. */
export interface ServerPrompt {
  /** What people write, without the slash: `server-prompt`, in lower case. */
  readonly command: string;
  /** The server's own name for it. */
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
}

/** Gets a prompt like a call of a tool: over the connection of its user, within the same bounds. */
export const PROMPT_CALL = 'prompts/get';
/** The name that rules use, as `server__get_prompt`. */
export const PROMPT_TOOL = 'get_prompt';

const MAX_PAGES = 20;
export const MAX_PROMPTS = 200;
const MAX_ARGUMENTS = 32;
/** Of the name of a prompt, in UTF-16 code units. */
export const MAX_NAME = 128;
const MAX_TEXT = 500;
const HASH_LENGTH = 8;

/** What a server lists, and how many of its prompts are left out. */
export interface PromptListing {
  readonly prompts: readonly ServerPrompt[];
  readonly leftOut: number;
}

/** The prompts of a server, at most 200; none for one without. Throws the client library's errors. */
export async function promptsOf(
  client: Client,
  server: string,
  options: RequestOptions,
): Promise<PromptListing> {
  if (client.getServerCapabilities()?.prompts === undefined) return { prompts: [], leftOut: 0 };
  const found = new Map<string, ServerPrompt>();
  let leftOut = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const { prompts, nextCursor } = await client.request({ method: 'prompts/list', params }, options);
    for (const { name, title, description, arguments: given = [] } of prompts) {
      if (found.has(name)) continue;
      if (name.length > MAX_NAME || found.size >= MAX_PROMPTS) {
        leftOut += 1;
        continue;
      }
      found.set(name, {
        command: commandOf(server, name),
        name,
        description: (description ?? title ?? '').slice(0, MAX_TEXT),
        arguments: given.slice(0, MAX_ARGUMENTS).map((one) => ({
          name: one.name.slice(0, MAX_NAME),
          description: (one.description ?? '').slice(0, MAX_TEXT),
          isRequired: one.required === true,
        })),
      });
    }
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  // Prompts on pages that are not read are not counted; the number is at least one.
  return { prompts: [...found.values()], leftOut: leftOut + (cursor === undefined ? 0 : 1) };
}

/** The prompts of all servers: those that share a command get commands of their own, with 8 digits of a hash. */
export function withOwnCommands(
  servers: ReadonlyMap<string, readonly ServerPrompt[]>,
): ReadonlyMap<string, readonly ServerPrompt[]> {
  const times = new Map<string, number>();
  for (const { command } of [...servers.values()].flat()) times.set(command, (times.get(command) ?? 0) + 1);
  const own = (server: string, prompt: ServerPrompt): ServerPrompt =>
    (times.get(prompt.command) ?? 0) < 2
      ? prompt
      : { ...prompt, command: `${prompt.command}-${shortHash(`${server}\n${prompt.name}`)}` };
  return new Map([...servers].map(([server, prompts]) => [server, prompts.map((one) => own(server, one))]));
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}

function commandOf(server: string, name: string): string {
  return `${server}-${name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '-')}`;
}

/** Makes the call, and gives its answer in the form of a tool's. Throws the client library's errors. */
export async function callPrompt(
  client: Client,
  { name, arguments: given }: Readonly<Record<string, unknown>>,
  options: RequestOptions,
): Promise<CallToolResult> {
  const params = { name: String(name), arguments: given as Record<string, string> };
  return { content: contentOf(await client.getPrompt(params, options)) };
}

/** The role is named only when not every message is the person's. */
function contentOf({ messages }: GetPromptResult): CallToolResult['content'] {
  const isDialogue = messages.some(({ role }) => role !== 'user');
  return messages.flatMap(({ role, content }) =>
    isDialogue ? [{ type: 'text' as const, text: `${role}:` }, content] : [content],
  );
}
