import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { exportJWK, SignJWT } from 'jose';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { type SigningKey, signingKey } from './identity.js';

/**
 * Runs `company-issuer-process.mjs` as a process. It signs ID tokens for the client "agents", as if people had signed
 * in.
 */
export class CompanyIssuer {
  private said = '';
  private constructor(
    private readonly child: ChildProcess,
    private readonly file: string,
    private readonly key: SigningKey,
    readonly url: string,
  ) {
    child.stdout?.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
  }

  static async start(folder: string): Promise<CompanyIssuer> {
    const [port, key] = [await freePort(), await signingKey('company')];
    const file = join(folder, 'company.json');
    await writeFile(file, JSON.stringify(await told(key, [])));
    const script = resolve('test/harness/company-issuer-process.mjs');
    const child = spawn(process.execPath, [script, String(port), file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const issuer = new CompanyIssuer(child, file, key, `http://127.0.0.1:${port}`);
    await eventually(() => expect(issuer.said).toContain('ready'), 20_000);
    return issuer;
  }

  /** The servers that people may use. */
  async allow(...resources: string[]): Promise<void> {
    await writeFile(this.file, JSON.stringify(await told(this.key, resources)));
  }

  idToken(sub: string, claims: Record<string, unknown> = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: this.url, sub, aud: 'agents', iat: now, exp: now + 300, groups: ['staff'] };
    return new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ alg: this.key.alg, kid: this.key.kid, typ: 'JWT' })
      .sign(this.key.privateKey);
  }

  /** The results of exchanging this person's tokens, in order. */
  exchanges(subject: string): string[] {
    const lines = this.said.split('\n').map((line) => line.split(' '));
    return lines.flatMap(([sub, result = '']) => (sub === subject ? [result] : []));
  }

  stop(): void {
    this.child.kill();
  }
}

async function told({ privateKey, kid, alg }: SigningKey, allowed: readonly string[]): Promise<object> {
  return { key: { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' }, allowed };
}
