import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { InsufficientScope, TokenCheckingServer, type VerifyRequest } from './token-checking-server.js';
import { type SentRequest, TokenVerifier, tokenOf } from './token-verifier.js';

const SCRIPT = resolve('test/harness/sign-in-issuer.mjs');
const READY_MS = 30_000;

export interface IssuerOptions {
  /** Whether it binds tokens to keys; by default it does. `denied` binds them and says that it did not. */
  readonly dpop?: 'off' | 'denied' | 'with nonce';
}

/** An authorization server at which people sign in with a browser, and a tool server that accepts its tokens. */
export class SignInWorld {
  /** What the authorization server has written since it was started. */
  said: string[] = [];
  /** Tokens that the tool server no longer accepts. */
  readonly revoked = new Set<string>();
  /** Whether the tool server refuses every token. */
  refusesAll = false;
  /** A scope that calls of its tool additionally require. */
  neededScope: string | undefined;
  /** Checked first; throws for requests that the tool server must refuse. */
  check: (request: SentRequest) => void = () => undefined;
  private issuer: ChildProcess | undefined;
  private tools: TokenCheckingServer | undefined;

  private constructor(
    private readonly port: number,
    private readonly tokenSecs: number,
    private readonly options: IssuerOptions,
  ) {}

  /** @param tokenSecs how long an access token lives */
  static async open(person: string, tokenSecs = 60, options: IssuerOptions = {}): Promise<SignInWorld> {
    const world = new SignInWorld(await freePort(), tokenSecs, options);
    await world.startIssuer(person);
    world.tools = await TokenCheckingServer.start((audience) => world.verifier(audience), world.issuerUrl);
    return world;
  }

  get issuerUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get server(): TokenCheckingServer {
    if (this.tools === undefined) throw new Error('The world is not open.');
    return this.tools;
  }

  /** Starts one with an empty memory. */
  async startIssuer(person: string): Promise<void> {
    this.said = [];
    const args = [String(this.port), person, String(this.tokenSecs), this.options.dpop ?? 'on'];
    this.issuer = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.issuer.stdout?.on('data', (chunk: Buffer) => this.said.push(...chunk.toString().trim().split('\n')));
    await eventually(() => expect(this.said).toContain('ready'), READY_MS);
  }

  /** Answers everything with 503, until it is called again. */
  breakOrMendIssuer(): void {
    this.issuer?.kill('SIGUSR2');
  }

  async stopIssuer(): Promise<void> {
    if (this.issuer === undefined) return;
    const ended = once(this.issuer, 'exit');
    this.issuer.kill();
    await ended;
  }

  async close(): Promise<void> {
    await this.stopIssuer();
    await this.tools?.stop();
  }

  /** The token `other` has no person. */
  private verifier(audience: string): VerifyRequest {
    const verifier = new TokenVerifier(this.issuerUrl, audience);
    return async (request, method) => {
      const token = tokenOf(request);
      if (token === 'other') return { claims: { sub: 'other' }, token };
      if (this.refusesAll || this.revoked.has(token)) throw new Error('revoked');
      if (request.headers.authorization !== undefined) this.check(request);
      const found = await verifier.verify(request);
      const rights = String(found.claims['rights']).split(' ');
      if (method === 'tools/call' && this.neededScope !== undefined && !rights.includes(this.neededScope))
        throw new InsufficientScope(this.neededScope);
      return found;
    };
  }
}

/**
 * Signs in with a browser.
 * @returns the address, beginning with `until`, to which the browser is sent back
 */
export async function browse(from: string, until: string): Promise<URL> {
  const jar = new Map<string, string>();
  for (let at = from, steps = 0; steps < 12; steps += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`no way on from ${at}: ${response.status} ${await response.text()}`);
    at = new URL(location, at).href;
    if (at.startsWith(until)) return new URL(at);
  }
  throw new Error('The browser went round in circles.');
}
