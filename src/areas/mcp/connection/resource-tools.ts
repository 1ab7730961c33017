import {
  type CallToolResult,
  type Client,
  ProtocolError,
  type RequestOptions,
} from '@modelcontextprotocol/client';
import type { ToolDefinition } from '../tools/tool-listing.js';

const MAX_URI = 2048;
const MAX_LISTED = 200;
const MAX_TEXT = 500;

const READ = 'read_resource';
const LIST = 'list_resources';

/** The tools with which models read a server's resources. They are offered and run like the server's own tools. */
export const RESOURCE_TOOLS: readonly ToolDefinition[] = [
  {
    name: READ,
    description:
      'Reads a resource of this server by its URI: one that list_resources shows, one made from a template of it, or one that a result of this server names.',
    inputSchema: {
      type: 'object',
      properties: { uri: { type: 'string', minLength: 1, maxLength: MAX_URI } },
      required: ['uri'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: LIST,
    description:
      'Lists resources of this server, and templates from which their URIs are made. With the cursor of one page it lists the next.',
    inputSchema: {
      type: 'object',
      properties: { cursor: { type: 'string', maxLength: MAX_URI } },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
];

export function isResourceTool(name: string): boolean {
  return name === READ || name === LIST;
}

/** Makes the call of one of these tools. Throws the client library's errors. */
export function callResourceTool(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: RequestOptions,
): Promise<CallToolResult> {
  return name === READ ? read(client, String(args['uri']), options) : list(client, args['cursor'], options);
}

async function read(client: Client, uri: string, options: RequestOptions): Promise<CallToolResult> {
  // A resource that one user read must not be shown again when it has changed.
  const { contents } = await client.readResource({ uri }, { ...options, cacheMode: 'bypass' });
  if (contents.length === 0) return textual('The resource is empty.');
  return { content: contents.map((resource) => ({ type: 'resource', resource })) };
}

/** One page at a time, so that nobody has to read everything; templates come with the first page. */
async function list(client: Client, cursor: unknown, options: RequestOptions): Promise<CallToolResult> {
  const page = typeof cursor === 'string' ? { cursor } : {};
  const { resources, nextCursor } = await client.request({ method: 'resources/list', params: page }, options);
  const templates = typeof cursor === 'string' ? [] : await templatesOf(client, options);
  const lines = [
    ...resources.slice(0, MAX_LISTED).map((resource) => lineOf({ uri: resource.uri }, resource)),
    ...templates.slice(0, MAX_LISTED).map((one) => lineOf({ uri_template: one.uriTemplate }, one)),
  ];
  const left = Math.max(0, resources.length - MAX_LISTED) + Math.max(0, templates.length - MAX_LISTED);
  if (left > 0) lines.push(`${left} more of this page are not listed.`);
  if (nextCursor !== undefined) lines.push(JSON.stringify({ next_cursor: nextCursor }));
  return textual(lines.length === 0 ? 'There are no resources.' : lines.join('\n'));
}

async function templatesOf(client: Client, options: RequestOptions) {
  try {
    return (await client.request({ method: 'resources/templates/list', params: {} }, options))
      .resourceTemplates;
  } catch (error) {
    // Not every server with resources has templates.
    if (error instanceof ProtocolError) return [];
    throw error;
  }
}

interface Described {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
}

function lineOf(where: object, { name, title, description, mimeType }: Described): string {
  const texts = { name: title ?? name, description, type: mimeType };
  return JSON.stringify({ ...where, ...texts }, (_, value: unknown) =>
    typeof value === 'string' ? value.slice(0, MAX_TEXT) : value,
  );
}

function textual(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
