import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

interface Call {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly key: string } };
}

const tool = (name: string) => ({
  name,
  description: 'Writes a key down.',
  inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
});
/** Two identical tools, so that a test can list one of them as repeatable. */
const TOOLS = [tool('note'), tool('again')];

/** A tool server over HTTP that outlives every gateway, and counts the calls. */
export class ToolLedger {
  readonly calls = new Map<string, number>();
  /** When each key arrived first, by `performance.now()`. */
  readonly firstAt = new Map<string, number>();
  /** Calls with these keys are noted but not answered. */
  readonly unanswered = new Set<string>();
  /** Milliseconds that a call takes. */
  pauseMs: (key: string) => number = () => 0;
  private readonly held = new Map<string, { readonly release: Promise<void>; readonly onMade: () => void }>();
  private readonly server = createServer((request, response) => void this.answer(request, response));

  static async start(): Promise<ToolLedger> {
    const ledger = new ToolLedger();
    await new Promise<void>((resolve) => ledger.server.listen(0, '127.0.0.1', resolve));
    return ledger;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  /** Holds back the answer to a call until it is released. `made` resolves when the call arrives. */
  hold(key: string): { readonly made: Promise<void>; release(): void } {
    let release = (): void => undefined;
    let onMade = (): void => undefined;
    const made = new Promise<void>((resolve) => {
      onMade = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.held.set(key, { release: released, onMade });
    return { made, release };
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call;
    if (call.id === undefined) return void response.writeHead(202).end();
    const result = this.resultOf(call);
    const key = call.method === 'tools/call' ? (call.params?.arguments?.key ?? '') : '';
    if (this.unanswered.has(key)) return;
    const held = this.held.get(key);
    held?.onMade();
    await held?.release;
    const pauseMs = key === '' ? 0 : this.pauseMs(key);
    if (pauseMs > 0) await sleep(pauseMs);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, result }));
  }

  private resultOf({ method, params }: Call): object {
    if (method === 'initialize') {
      const serverInfo = { name: 'ledger', version: '1.0.0' };
      return { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
    }
    if (method === 'tools/list') return { tools: TOOLS };
    if (method !== 'tools/call') return {};
    const key = params?.arguments?.key ?? '';
    if (!this.firstAt.has(key)) this.firstAt.set(key, performance.now());
    this.calls.set(key, (this.calls.get(key) ?? 0) + 1);
    return { content: [{ type: 'text', text: 'noted' }] };
  }
}
