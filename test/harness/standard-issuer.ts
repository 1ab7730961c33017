import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { freePort } from './free-port.js';

interface Told {
  readonly url?: string;
  readonly token?: string;
  readonly error?: string;
}

/** An identity provider that others wrote. `openid-client` gets its tokens. */
export class StandardIssuer {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(kind: 'oidc-provider' | 'oauth2-mock-server'): Promise<StandardIssuer> {
    const script = resolve('test/harness/standard-issuer-process.mjs');
    const child = fork(script, [kind, String(await freePort())], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const [{ url = '' }] = (await once(child, 'message')) as [Told];
    return new StandardIssuer(child, url);
  }

  /** @param grant a person in a browser, or a service on its own behalf */
  async token(
    grant: 'code' | 'client_credentials',
    claims: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const told = once(this.child, 'message') as Promise<[Told]>;
    this.child.send({ grant, ...claims });
    const [{ token, error }] = await told;
    if (token === undefined) throw new Error(error);
    return token;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }
}
