import { createHash } from 'node:crypto';
import {
  type AuthorizationServerMetadata,
  computeScopeUnion,
  type OAuthClientInformationMixed,
} from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit-log/audit-log.js';
import { Database } from '../../../platform/database/database.js';
import { storableText } from '../../../platform/database/storable-text.js';
import { CannotOpen, SecretBox } from '../../../platform/secrets/secret-box.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { StoredProofKey } from '../dpop/proof-keys.js';
import {
  ALL,
  BEGIN,
  END,
  FIND,
  FINISH,
  FLOW_SECS,
  LEASE,
  LOSE,
  RELEASE,
  RENEW,
  TAKE,
  WANT,
} from './sign-ins.sql.js';

/** What the gateway is at an authorization server, and what it reads of that server's metadata. */
export interface SignInClient {
  readonly authorizationServer: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  readonly information: OAuthClientInformationMixed;
  /** The page of the gateway to which browsers come back; a client is registered with it. */
  readonly redirectUrl: string;
  readonly resource: string | undefined;
}

/** What has to be known when the browser comes back. */
export interface SignInFlow extends SignInClient {
  readonly boundTo: string;
  /** To which the tokens are to be bound; undefined for tokens of whoever bears them. */
  readonly key?: StoredProofKey | undefined;
  readonly codeVerifier: string;
  readonly scope: string | undefined;
  /** The operator who asked for the link. */
  readonly by: string;
}

export interface SignInTokens extends SignInClient {
  readonly accessToken: string;
  /** To which the refresh token is bound, if it is, and the access token with `isBound`. */
  readonly key?: StoredProofKey | undefined;
  readonly isBound?: boolean;
  readonly refreshToken: string | undefined;
  readonly scope: string | undefined;
}

export interface StoredTokens {
  readonly tokens: SignInTokens;
  readonly version: number;
  /** Undefined when the issuer does not say. */
  readonly expiresAt: Date | undefined;
}

/** Why there are no tokens, in a sentence for operators. */
export interface NoTokens {
  readonly problem: string | undefined;
}

export interface SignInState {
  readonly isSignedIn: boolean;
  readonly by: string | null;
  readonly at: Date | null;
  readonly problem: string | null;
}

/** A longer list of scopes makes a link that no authorization server takes. */
export const MAX_SCOPE = 1000;

/** A hash of what tokens belong to: with another address, client or issuer they must not be sent. */
export function bindingOf(settings: McpServerSettings): string {
  const { url, oauth_client_id: client, oauth_issuer: issuer } = settings;
  return createHash('sha256')
    .update(JSON.stringify([url, client, issuer]))
    .digest('hex');
}

const hashOf = (state: string): string => createHash('sha256').update(state).digest('hex');
type Part = 'client' | 'flow' | 'tokens';
/** For what a sealed text of a server's row is sealed. */
export const signInContext = (server: string, part: Part): string => `mcp-sign-in:${server}:${part}`;

/** The sign-ins to tool servers, which all replicas share; their secrets are sealed under the master key. */
@Injectable()
export class SignIns {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly audit: AuditLog,
  ) {}

  async all(): Promise<ReadonlyMap<string, SignInState & { boundTo: string; changes: number }>> {
    const rows = await this.database.query(ALL);
    return new Map(
      rows.map(({ server, bound_to: boundTo, changes, problem, ...row }) => [
        server,
        {
          ...{ boundTo, changes, problem, isSignedIn: row.is_signed_in !== null },
          ...{ by: row.signed_in_by, at: row.signed_in_at },
        },
      ]),
    );
  }

  /** As what the gateway is registered for this server, and with which scopes it asks the next time. */
  async clientOf(
    server: string,
    boundTo: string,
  ): Promise<{ client: SignInClient | undefined; wantedScope: string | undefined }> {
    const [row] = await this.database.query(FIND, { server });
    if (row?.bound_to !== boundTo) return { client: undefined, wantedScope: undefined };
    const { sealed_client: sealed, wanted_scope: scope } = row;
    return { client: this.clientIn(server, sealed), wantedScope: scope ?? undefined };
  }

  /** Of what an authorization server says, `client` is kept for the next sign-in. @returns when the flow ends */
  async begin(server: string, state: string, { by, ...flow }: SignInFlow): Promise<Date> {
    const { codeVerifier: _verifier, scope: _scope, key: _key, boundTo, ...client } = flow;
    const endsAt = new Date(Date.now() + FLOW_SECS * 1000);
    await this.database.query(BEGIN, {
      ...{ server, boundTo, stateHash: hashOf(state) },
      client: this.seal(server, 'client', client),
      flow: this.seal(server, 'flow', { ...flow, by }),
    });
    return endsAt;
  }

  /** The flow of this state, once; undefined for one that is unknown, used, too old, or sealed with a key that is lost. */
  async take(state: string): Promise<{ server: string; flow: SignInFlow; changes: number } | undefined> {
    const [row] = await this.database.query(TAKE, { stateHash: hashOf(state) });
    if (row === undefined) return undefined;
    const { server, changes } = row;
    const flow = this.openIfCan<SignInFlow>(server, 'flow', row.flow);
    return flow && { server, flow, changes };
  }

  /**
   * Keeps the tokens of a flow, with its entry in the audit. @param lives seconds until they expire
   * @returns whether it did: not when somebody signed in or out since the flow was taken
   */
  async finish(
    server: string,
    { boundTo, by, changes }: SignInFlow & { readonly changes: number },
    tokens: SignInTokens,
    lives: number | undefined,
  ): Promise<boolean> {
    return this.database.transaction(async (runner) => {
      const kept = { tokens: this.seal(server, 'tokens', tokens), lives: lives ?? null };
      const done = await runner.query(FINISH, { server, boundTo, changes, by: storableText(by), ...kept });
      if (done.length === 0) return false;
      const issuer = tokens.metadata?.issuer ?? tokens.authorizationServer;
      const details = { issuer, scope: tokens.scope ?? null };
      await this.audit.write(runner, {
        ...{ action: 'mcp.signed_in', actor: by, target: server, outcome: 'success', details },
      });
      return true;
    });
  }

  /** @returns the tokens that there were, whatever they were bound to; undefined when nothing of the server was there */
  async end(server: string): Promise<{ readonly tokens: SignInTokens | undefined } | undefined> {
    const ended = await this.database.transaction(async (runner) => {
      const [row] = await runner.query(END, { server });
      if (row !== undefined)
        await this.audit.write(runner, { action: 'mcp.signed_out', target: server, outcome: 'success' });
      return row;
    });
    if (ended === undefined) return undefined;
    return { tokens: ended.tokens === null ? undefined : this.openIfCan(server, 'tokens', ended.tokens) };
  }

  /** Throws `CannotOpen`. */
  async tokensOf(server: string, boundTo: string): Promise<StoredTokens | NoTokens> {
    const [row] = await this.database.query(FIND, { server });
    if (row === undefined) return { problem: undefined };
    const { sealed_tokens: sealed, tokens_version: version, expires_at: expiresAt, problem } = row;
    if (sealed === null) return { problem: problem ?? undefined };
    if (row.bound_to !== boundTo)
      return { problem: 'its url, oauth_client_id or oauth_issuer is another since the last sign-in' };
    const tokens = this.open<SignInTokens>(server, 'tokens', sealed);
    return { tokens, version, expiresAt: expiresAt ?? undefined };
  }

  /** Whether this replica is the one that refreshes these tokens now; then it has to `renew`, `lose` or `release` them. */
  async lease(server: string, version: number): Promise<boolean> {
    return (await this.database.query(LEASE, { server, version })).length > 0;
  }

  async release(server: string, version: number): Promise<void> {
    await this.database.query(RELEASE, { server, version });
  }

  /** @returns the version of the new tokens; undefined when somebody signed in or out meanwhile */
  async renew(
    server: string,
    version: number,
    tokens: SignInTokens,
    lives: number | undefined,
  ): Promise<number | undefined> {
    const kept = { tokens: this.seal(server, 'tokens', tokens), lives: lives ?? null };
    const [row] = await this.database.query(RENEW, { server, version, ...kept });
    return row?.version;
  }

  /** The tokens are of no use any more: somebody has to sign in again. */
  async lose(server: string, version: number, problem: string, forgetsClient = false): Promise<void> {
    await this.database.transaction(async (runner) => {
      const given = { server, version, problem: storableText(problem), forgetsClient };
      if ((await runner.query(LOSE, given)).length === 0) return;
      const details = { problem };
      await this.audit.write(runner, {
        action: 'mcp.sign_in_lost',
        target: server,
        outcome: 'failure',
        details,
      });
    });
  }

  /** The next sign-in asks for these scopes, beside those that were wanted before. */
  async want(server: string, boundTo: string, scope: string): Promise<void> {
    const { wantedScope } = await this.clientOf(server, boundTo);
    const all = computeScopeUnion(wantedScope, scope) ?? scope;
    if (all.length > MAX_SCOPE) return;
    await this.database.query(WANT, { server, boundTo, scope: storableText(all) });
  }

  /** One that no key opens is registered anew. */
  private clientIn(server: string, sealed: string | null): SignInClient | undefined {
    return sealed === null ? undefined : this.openIfCan<SignInClient>(server, 'client', sealed);
  }

  private openIfCan<Content>(server: string, part: Part, sealed: string): Content | undefined {
    try {
      return this.open<Content>(server, part, sealed);
    } catch (error) {
      if (error instanceof CannotOpen) return undefined;
      throw error;
    }
  }

  private seal(server: string, part: Part, content: unknown): string {
    return this.box.seal(JSON.stringify(content), signInContext(server, part));
  }

  private open<Content>(server: string, part: Part, sealed: string): Content {
    return JSON.parse(this.box.open(sealed, signInContext(server, part))) as Content;
  }
}
