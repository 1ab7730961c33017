import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import {
  type AddClientAuthentication,
  type AuthProvider,
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
} from '@modelcontextprotocol/client';
import { SignJWT } from 'jose';
import { sentenceOf } from '../../../common/errors/error-text.js';
import type { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { CallOrigin } from '../connection/call-origin.js';
import { CredentialsUnreadable } from '../connection/mcp-failure.js';

export type Credentials = AuthProvider | ClientCredentialsProvider | PrivateKeyJwtProvider | undefined;

/**
 * How the gateway authenticates to an HTTP server. Throws when a variable that the settings name is not set, and `CredentialsUnreadable`
 * for the file of a key.
 * @param hide told of each token that an authorization server gives, and of each assertion that it gets, before it is used
 */
export function credentialsOf(
  server: McpServerSettings,
  environment: Environment,
  hide: (secret: string) => void,
): Credentials {
  // `WorkloadTokens` puts these into requests.
  if (server.oauth_workload_token_file !== '') return undefined;
  if (server.oauth_client_id !== '') return clientCredentials(server, environment, hide);
  if (server.token_env === '') return undefined;
  const token = variable(server.token_env, environment);
  return { token: () => Promise.resolve(token) };
}

/** Whether the gateway has credentials of its own for such a server. */
export function hasCredentials(server: McpServerSettings): boolean {
  const { oauth_client_id: client, token_env: name, oauth_workload_token_file: file } = server;
  return client !== '' || name !== '' || file !== '';
}

/**
 * Whether requests show the gateway's own credentials. Where a proof of the user replaces them, only the connection that lists
 * tools does.
 */
export function needsCredentials(server: McpServerSettings, { user }: CallOrigin): boolean {
  const { identity, identity_header: header } = server;
  return identity === 'none' || header !== '' || (user === undefined && !hasOwnAccount(server));
}

/** Whether the gateway has an account at the company's identity provider, with which it lists the tools like a person. */
export function hasOwnAccount({ idp_token_file: file }: McpServerSettings): boolean {
  return file !== '';
}

/** The secrets of these servers that the environment holds, for the redactor. */
export function secretsInEnvironment(
  servers: readonly McpServerSettings[],
  environment: Environment,
): readonly string[] {
  const names = servers.flatMap((server) => [
    ...[server.token_env, server.oauth_client_secret_env, server.idp_client_secret_env],
  ]);
  return names.flatMap((name) => (name === '' ? [] : (environment.lookup(name)?.trim() ?? [])));
}

/** Hides the tokens that it gets: a server may repeat them in the text of a failure. */
class HiddenCredentials extends ClientCredentialsProvider {
  constructor(
    options: ConstructorParameters<typeof ClientCredentialsProvider>[0] & { expectedIssuer: string },
    private readonly hide: (token: string) => void,
  ) {
    super(options);
  }

  override saveTokens(tokens: Parameters<ClientCredentialsProvider['saveTokens']>[0]): void {
    this.hide(tokens.access_token);
    super.saveTokens(tokens);
  }
}

/** The same for a client that signs with a key of its own. */
class HiddenSigner extends PrivateKeyJwtProvider {
  constructor(
    options: ConstructorParameters<typeof PrivateKeyJwtProvider>[0] & { expectedIssuer: string },
    private readonly hide: (token: string) => void,
  ) {
    super(options);
  }

  override saveTokens(tokens: Parameters<PrivateKeyJwtProvider['saveTokens']>[0]): void {
    this.hide(tokens.access_token);
    super.saveTokens(tokens);
  }
}

function clientCredentials(
  server: McpServerSettings,
  environment: Environment,
  hide: (secret: string) => void,
): ClientCredentialsProvider | PrivateKeyJwtProvider {
  const {
    oauth_client_id: clientId,
    oauth_client_secret_env: name,
    oauth_private_key_file: keyFile,
  } = server;
  const { oauth_issuer: expectedIssuer, oauth_scope: scope } = server;
  // Without the issuer the secret would go to any authorization server that the tool server names.
  const client = { clientId, expectedIssuer, ...(scope === '' ? {} : { scope }) };
  if (keyFile === '')
    return new HiddenCredentials({ ...client, clientSecret: variable(name, environment) }, hide);
  const key = privateKeyIn(keyFile);
  const algorithm = algorithmOf(key, keyFile);
  const privateKey = { ...key.export({ format: 'jwk' }) };
  const provider = new HiddenSigner({ ...client, algorithm, privateKey }, hide);
  provider.addClientAuthentication = signedBy(key, algorithm, clientId, hide);
  return provider;
}

const MAX_KEY_BYTES = 65_536;
const ASSERTION_TTL = '1 minute';
/** By the name of the curve, as Node has it. */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** Replaces the library's own, which loads `jose` when it signs: nothing can be loaded from within the bundle. */
function signedBy(
  key: KeyObject,
  alg: string,
  clientId: string,
  hide: (secret: string) => void,
): AddClientAuthentication {
  return async (_headers, params, url, metadata) => {
    const assertion = await new SignJWT()
      .setProtectedHeader({ alg, typ: 'JWT' })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(metadata?.issuer ?? String(url))
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime(ASSERTION_TTL)
      .sign(key);
    hide(assertion);
    params.set('client_assertion', assertion);
    params.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  };
}

/** A key says how it signs. */
function algorithmOf(key: KeyObject, file: string): string {
  const curve = key.asymmetricKeyDetails?.namedCurve ?? '';
  const algorithms: Record<string, string | undefined> = {
    rsa: 'RS256',
    ed25519: 'EdDSA',
    ec: CURVES[curve],
  };
  const algorithm = algorithms[key.asymmetricKeyType ?? ''];
  if (algorithm === undefined)
    throw new CredentialsUnreadable(`The key in ${file} is none of RSA, P-256, P-384, P-521 and Ed25519.`);
  return algorithm;
}

function privateKeyIn(file: string): KeyObject {
  let pem: string;
  try {
    if (statSync(file).size > MAX_KEY_BYTES) throw new Error(`it has more than ${MAX_KEY_BYTES} bytes`);
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CredentialsUnreadable(
      `The private key of the OAuth client cannot be read: ${sentenceOf(error)}`,
    );
  }
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CredentialsUnreadable(
      `${file} holds no private key as PEM (PKCS #8, "BEGIN PRIVATE KEY", without a password).`,
    );
  }
}

/** Throws when the variable of this name is not set. */
export function variable(name: string, environment: Environment): string {
  const value = environment.lookup(name)?.trim();
  if (value === undefined || value === '')
    throw new Error(`The variable ${name || '(none named)'} is not set.`);
  return value;
}
