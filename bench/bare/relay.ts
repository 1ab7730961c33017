import { Pool } from 'undici';

export interface RelayedAnswer {
  readonly content: string;
  readonly tokens: number;
  readonly model: string;
}

interface Chunk {
  readonly model: string;
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
  readonly usage?: { readonly total_tokens: number } | null;
}

/** The provider call of a thin relay: one keep-alive pool, reads the stream to its end, checks nothing. */
export class Relay {
  private readonly pool: Pool;

  constructor(private readonly baseUrl: URL) {
    this.pool = new Pool(baseUrl.origin, { connections: 512, pipelining: 1 });
  }

  async ask(messages: readonly { role: string; content: string }[]): Promise<RelayedAnswer> {
    const { body } = await this.pool.request({
      path: `${this.baseUrl.pathname}/chat/completions`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'bench',
        messages,
        stream: true,
        stream_options: { include_usage: true },
      }),
    });
    let content = '';
    let tokens = 0;
    let rest = '';
    for await (const piece of body) {
      const lines = (rest + String(piece)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data: {')) continue;
        const chunk = JSON.parse(line.slice(6)) as Chunk;
        content += chunk.choices[0]?.delta.content ?? '';
        tokens = chunk.usage?.total_tokens ?? tokens;
      }
    }
    return { content, tokens, model: 'bench' };
  }
}
