import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export interface McpAnswer {
  readonly text: string;
  readonly isError: boolean;
  readonly session: string;
  readonly structured: Record<string, unknown> | undefined;
}

/** The official client, as programs use it that know nothing about this gateway. */
export class McpCaller {
  private constructor(readonly client: Client) {}

  static async connect(
    base: string,
    token: string,
    { mode = 'auto', sessionId }: { readonly mode?: 'auto' | 'legacy'; readonly sessionId?: string } = {},
  ): Promise<McpCaller> {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', base), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
        ...(sessionId !== undefined && { sessionId }),
        reconnectionOptions: {
          ...{ initialReconnectionDelay: 50, maxReconnectionDelay: 500 },
          ...{ reconnectionDelayGrowFactor: 1.5, maxRetries: 20 },
        },
      }),
    );
    return new McpCaller(client);
  }

  async tools(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }

  async call(
    name: string,
    args: Record<string, unknown>,
    options: Parameters<Client['callTool']>[1] = {},
  ): Promise<McpAnswer> {
    const {
      content,
      isError = false,
      structuredContent,
    } = await this.client.callTool({ name, arguments: args }, options);
    const structured = structuredContent as Record<string, unknown> | undefined;
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    return { text, isError, structured, session: String(structured?.['session_id']) };
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
