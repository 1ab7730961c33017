import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

export async function signingKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export const AUDIENCE = 'agent-gateway';

/** An identity provider of our own. It says what a test wants, and counts the requests to it. */
export class TestIssuer {
  calls = 0;
  /** Answers 503 while this is true. */
  isAway = false;
  /** The bearer token that it requires for its keys. */
  bearer: string | undefined;
  private constructor(
    private readonly server: Server,
    readonly url: string,
    public keys: SigningKey[],
  ) {}

  static async open(path = ''): Promise<TestIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const issuer = new TestIssuer(server, `${origin}${path}`, [await signingKey('first')]);
    server.on('request', (request, response) => {
      issuer.calls += 1;
      const isDenied =
        issuer.bearer !== undefined && request.headers.authorization !== `Bearer ${issuer.bearer}`;
      const body = request.url?.endsWith('/openid-configuration')
        ? { issuer: issuer.url, jwks_uri: `${origin}${path}/keys` }
        : { keys: issuer.keys.map(({ jwk }) => jwk) };
      response.writeHead(issuer.isAway ? 503 : isDenied ? 401 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
    return issuer;
  }

  get key(): SigningKey {
    const key = this.keys.at(-1);
    if (key === undefined) throw new Error('The issuer has no key.');
    return key;
  }

  /** A valid token, unless the claims or the header say otherwise. `undefined` leaves a claim out. */
  sign(
    claims: Record<string, unknown> = {},
    { header = {}, key = this.key }: { header?: Partial<JWTHeaderParameters>; key?: SigningKey } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: this.url, aud: AUDIENCE, sub: 'ada', iat: now, exp: now + 300, groups: ['staff'] };
    return new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
      .sign(key.privateKey);
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

const made: string[] = [];

/** The environment of a gateway with this configuration file. `removeConfigs` removes the file's folder. */
export async function configEnv(toml: string): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'agw-identity-'));
  made.push(folder);
  const file = join(folder, 'gateway.toml');
  await writeFile(file, toml);
  return { GATEWAY_CONFIG: file };
}

export async function removeConfigs(): Promise<void> {
  for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true });
}

/** Roles: `staff` may do everything, `support` may talk in its own sessions, `reader` may read. */
export function issuerToml(issuer: { readonly url: string }, more = ''): string {
  return `
[auth.jwt.corp]
issuer = "${issuer.url}"
audience = "${AUDIENCE}"
${more}
[auth.jwt.corp.roles]
"staff" = { preset = "admin" }
"support" = { scopes = ["sessions:read", "sessions:write", "hooks:read", "hooks:write"], bound = true }
"reader" = { scopes = ["sessions:read"] }
`;
}
