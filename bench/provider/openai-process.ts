import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveHelper } from '../harness/serve-helper.js';

const WORDS = ['Nothing', ' is', ' faster', ' than', ' an', ' answer', ' that', ' is', ' known.'];

export interface ProviderConfig {
  /** Words per answer; by default one short sentence. */
  readonly words?: number;
  /** By default a free port. */
  readonly port?: number;
}

/** A model that always gives the same answer at once, so that only the gateway's own time is measured. */
function serveProvider({ words = WORDS.length, port = 0 }: ProviderConfig) {
  const said = Array.from({ length: words }, (_, index) => WORDS[index % WORDS.length]);
  const pieces = [...said.map((content) => event({ choices: [{ index: 0, delta: { content } }] })), ...end()];
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      for (const piece of pieces) response.write(piece);
      response.end();
    });
  });
  return new Promise<{ ready: { url: string } }>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve({ ready: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` } });
    });
  });
}

function end(): string[] {
  return [
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    event({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 9, total_tokens: 20 } }),
    'data: [DONE]\n\n',
  ];
}

function event(rest: object): string {
  const head = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'bench',
  };
  return `data: ${JSON.stringify({ ...head, ...rest })}\n\n`;
}

await serveHelper(serveProvider);
