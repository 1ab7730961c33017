import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { TestGateway } from './gateway.js';

/** A server's settings, as in the file. */
export type ServerTable = Readonly<Record<string, unknown>>;

const PACKAGES = resolve('node_modules/@modelcontextprotocol');

/** A stdio server from one of the packages that the protocol's authors publish. */
export function published(name: 'everything' | 'filesystem' | 'memory', args: string[] = []): ServerTable {
  return {
    command: process.execPath,
    args: [join(PACKAGES, `server-${name}/dist/index.js`), ...args],
  };
}

/** A stdio server that is a script in the test harness. */
export function scripted(...args: string[]): ServerTable {
  return { command: process.execPath, args: [resolve('test/harness/mcp-server.mjs'), ...args] };
}

/** A stdio server that sends its client requests while it runs a call. */
export function asking(mark: string): ServerTable {
  return { command: process.execPath, args: [resolve('test/harness/asking-server.mjs'), mark] };
}

/** The same server, shared by all callers: one connection lists the tools and makes the calls. */
export function shared(server: ServerTable): ServerTable {
  return { ...server, isolation: 'shared' };
}

/** A stdio server that tries what a sandbox must prevent. */
export function prober(...args: string[]): ServerTable {
  return { command: process.execPath, args: [resolve('test/harness/sandbox-prober.mjs'), ...args] };
}

/** Test servers run without a sandbox, so that they run on every machine. Only tests of the sandbox enable it. */
const WITHOUT_SANDBOX = '[security.sandbox]\nbackend = "none"\n';

/** A folder with a configuration file that names these servers. */
export class McpBench {
  private constructor(
    readonly folder: string,
    private readonly more: string,
  ) {}

  static async make(servers: Record<string, ServerTable>, more = ''): Promise<McpBench> {
    const bench = new McpBench(await mkdtemp('/tmp/agw-mcp-'), more);
    await bench.write(servers);
    return bench;
  }

  get file(): string {
    return join(this.folder, 'gateway.toml');
  }

  /** The parent of the users' folders. */
  get stateFolder(): string {
    return join(this.folder, 'folders');
  }

  get env(): { GATEWAY_CONFIG: string; GATEWAY__MCP__STATE_DIR: string } {
    return { GATEWAY_CONFIG: this.file, GATEWAY__MCP__STATE_DIR: this.stateFolder };
  }

  async write(servers: Record<string, ServerTable>, more = this.more): Promise<void> {
    const tables = Object.entries(servers).map(([name, table]) => {
      const keys = Object.entries(table).map(([key, value]) => `${key} = ${toml(value)}\n`);
      return `[mcp.servers.${name}]\n${keys.join('')}`;
    });
    const sandbox = more.includes('[security.sandbox]') ? '' : WITHOUT_SANDBOX;
    await writeFile(this.file, `${more}\n${sandbox}${tables.join('\n')}`);
  }

  clear(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

function toml(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, part]) => `${JSON.stringify(key)} = ${toml(part)}`);
  return `{ ${entries.join(', ')} }`;
}

export interface ServerB {
  readonly name: string;
  readonly transport: string;
  readonly status: string;
  readonly tools: readonly string[];
  readonly connected_at?: string;
  readonly error?: string;
  readonly warning?: string;
}

export async function serverB(gateway: TestGateway, name: string): Promise<ServerB | undefined> {
  const { body } = await gateway.b.get<{ servers: ServerB[] }>('/mcp');
  return body.servers.find((server) => server.name === name);
}

export interface ToolCallView {
  readonly id: string;
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly status: string;
  readonly output: string;
  readonly duration_ms: number;
}

/** Sends one message to the offline model in a new session, such as `/call files__read_file {…}`. */
export async function say(
  gateway: Pick<TestGateway, 'a'>,
  content: string,
  session: Record<string, unknown> = {},
): Promise<{ content: string; tool_calls: ToolCallView[] }> {
  const made = await gateway.a.post<{ session_id: string }>('/sessions', session);
  const answer = await gateway.a.post<{ content: string; tool_calls: ToolCallView[] }>(
    `/sessions/${made.body.session_id}/messages`,
    { content },
  );
  if (answer.status !== 200) throw new Error(`The message was answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

/** Sends a message that makes one tool call, and returns that call. */
export async function callTool(
  gateway: Pick<TestGateway, 'a'>,
  name: string,
  args: Record<string, unknown>,
): Promise<ToolCallView> {
  const { tool_calls: calls } = await say(gateway, `/call ${name} ${JSON.stringify(args)}`);
  const [call] = calls;
  if (call === undefined || calls.length > 1) throw new Error(`There were ${calls.length} calls.`);
  return call;
}

/** The processes whose command line contains this text, except this process; Linux only. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        if (/\) Z /.test(stat)) return false;
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}
