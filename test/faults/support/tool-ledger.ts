import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Call {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly key: string } };
}

const TOOL = {
  name: 'note',
  description: 'Writes a key down.',
  inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
};

/** A tool server over HTTP that outlives every gateway, and knows what was called how often. */
export class ToolLedger {
  readonly calls = new Map<string, number>();
  /** Calls with these keys are noted and not answered. */
  readonly unanswered = new Set<string>();
  private readonly server = createServer((request, response) => void this.answer(request, response));

  static async start(): Promise<ToolLedger> {
    const ledger = new ToolLedger();
    await new Promise<void>((resolve) => ledger.server.listen(0, '127.0.0.1', resolve));
    return ledger;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
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
    if (this.unanswered.has(call.params?.arguments?.key ?? '')) return;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, result }));
  }

  private resultOf({ method, params }: Call): object {
    if (method === 'initialize') {
      const serverInfo = { name: 'ledger', version: '1.0.0' };
      return { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
    }
    if (method === 'tools/list') return { tools: [TOOL] };
    if (method !== 'tools/call') return {};
    const key = params?.arguments?.key ?? '';
    this.calls.set(key, (this.calls.get(key) ?? 0) + 1);
    return { content: [{ type: 'text', text: 'noted' }] };
  }
}
