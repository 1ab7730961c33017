import type { CallToolResult, Client, GetPromptResult, RequestOptions } from '@modelcontextprotocol/client';

/** What an argument of a prompt is for. */
interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
}

/** A text that a server has ready, for people to ask for. */
export interface ServerPrompt {
  /** What people write, without the slash: `server-prompt`, in small letters. */
  readonly command: string;
  /** The server's own name for it. */
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
}

/** By which a prompt is asked for like a call of a tool: over the connection of its user, under the same bounds. */
export const PROMPT_CALL = 'prompts/get';
/** What rules name it, as `server__get_prompt`. */
export const PROMPT_TOOL = 'get_prompt';

const MAX_PAGES = 20;
const MAX_PROMPTS = 200;
const MAX_ARGUMENTS = 32;
const MAX_NAME = 128;
const MAX_TEXT = 500;

/** The prompts of a server, at most 200; none for one without. Throws the client library's errors. */
export async function promptsOf(
  client: Client,
  server: string,
  options: RequestOptions,
): Promise<readonly ServerPrompt[]> {
  if (client.getServerCapabilities()?.prompts === undefined) return [];
  const found = new Map<string, ServerPrompt>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && found.size < MAX_PROMPTS; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const { prompts, nextCursor } = await client.request({ method: 'prompts/list', params }, options);
    for (const { name, title, description, arguments: given = [] } of prompts) {
      const command = commandOf(server, name);
      if (name.length > MAX_NAME || found.has(command) || found.size >= MAX_PROMPTS) continue;
      found.set(command, {
        command,
        name,
        description: (description ?? title ?? '').slice(0, MAX_TEXT),
        arguments: given.slice(0, MAX_ARGUMENTS).map((one) => ({
          name: one.name.slice(0, MAX_NAME),
          description: (one.description ?? '').slice(0, MAX_TEXT),
          isRequired: one.required === true,
        })),
      });
    }
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return [...found.values()];
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

/** Who speaks is said only when it is not always the person. */
function contentOf({ messages }: GetPromptResult): CallToolResult['content'] {
  const isDialogue = messages.some(({ role }) => role !== 'user');
  return messages.flatMap(({ role, content }) =>
    isDialogue ? [{ type: 'text' as const, text: `${role}:` }, content] : [content],
  );
}
