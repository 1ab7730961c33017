import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { TokenCheckingServer } from './token-checking-server.js';
import { TokenVerifier, tokenOf } from './token-verifier.js';

/** Runs `assertion-issuer-process.mjs` as a process, with a tool server that accepts its tokens. */
export class AssertionIssuer {
  /** Tokens that the tool server no longer accepts. */
  readonly revoked = new Set<string>();
  /** Whether the tool server refuses every token. */
  refusesAll = false;
  private said = '';
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    child.stdout?.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
  }

  /** @param trusted the URL of the keys, by issuer */
  static async start(folder: string, trusted: Readonly<Record<string, string>>): Promise<AssertionIssuer> {
    const port = await freePort();
    const file = join(folder, 'trusted.json');
    await writeFile(file, JSON.stringify(trusted));
    const script = resolve('test/harness/assertion-issuer-process.mjs');
    const child = spawn(process.execPath, [script, String(port), file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const issuer = new AssertionIssuer(child, `http://127.0.0.1:${port}`);
    await eventually(() => expect(issuer.said).toContain('ready'), 20_000);
    return issuer;
  }

  server(): Promise<TokenCheckingServer> {
    return TokenCheckingServer.start((audience) => {
      const verifier = new TokenVerifier(this.url, audience);
      return async (request) => {
        if (this.refusesAll || this.revoked.has(tokenOf(request))) throw new Error('revoked');
        return verifier.verify(request);
      };
    }, this.url);
  }

  /** The results for assertions about this subject, in order. */
  grants(subject: string): string[] {
    const lines = this.said.split('\n').map((line) => line.split(' '));
    return lines.flatMap(([, sub, result = '']) => (sub === subject ? [result] : []));
  }

  stop(): void {
    this.child.kill();
  }
}
