import { z } from 'zod';
import { keyMarks } from '../key-marks.js';

const MAX_TEXT_LENGTH = 4096;

const fileOnlyText = () => z.string().max(MAX_TEXT_LENGTH).default('').register(keyMarks, { fileOnly: true });

/** How a tool server's tokens are got from assertions that others made: the platform, or the company's identity provider. */
export const assertionKeys = {
  oauth_workload_token_file: fileOnlyText().describe(
    'http and sse: file with a JWT that the platform gives the gateway, such as a projected token of a Kubernetes service account; oauth_issuer takes it for an access token (RFC 7523). Read whenever one is needed. Where the issuer wants it, oauth_client_id says for which client.',
  ),
  idp_issuer: fileOnlyText().describe(
    'identity = "cross_app": issuer of the company\'s identity provider, as in [auth.jwt.<name>]. It exchanges the token with which a person came for one that oauth_issuer takes (ID-JAG).',
  ),
  idp_client_id: fileOnlyText().describe(
    'identity = "cross_app": as which client the gateway asks the identity provider.',
  ),
  idp_client_secret_env: fileOnlyText().describe(
    'identity = "cross_app": name of the variable that holds the secret of that client; empty for a public client.',
  ),
  idp_token_type: z
    .enum(['id_token', 'access_token', 'jwt'])
    .default('id_token')
    .register(keyMarks, { fileOnly: true })
    .describe('identity = "cross_app": what the tokens are with which people come.'),
  idp_token_file: fileOnlyText().describe(
    'identity = "cross_app": file with such a token of an account of the gateway, with which it lists the tools. Read whenever one is needed; empty uses client credentials of oauth_client_id.',
  ),
};

/** Whether tokens are bound to a key. */
export const bindingKeys = {
  oauth_dpop: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .register(keyMarks, { fileOnly: true })
    .describe(
      'http and sse: whether the tokens of the authorization server are bound to a key of the gateway, so that nobody else can use them (DPoP, RFC 9449). auto: where its metadata says that it can; always: without it there is no connection; never: tokens of whoever bears them.',
    ),
};

interface TokenSource {
  readonly transport: string;
  readonly identity_header: string;
  readonly oauth_dpop: string;
  readonly token_env: string;
  readonly identity: string;
  readonly oauth_sign_in: boolean;
  readonly oauth_client_id: string;
  readonly oauth_client_secret_env: string;
  readonly oauth_private_key_file: string;
  readonly oauth_issuer: string;
  readonly oauth_workload_token_file: string;
  readonly idp_issuer: string;
  readonly idp_client_id: string;
  readonly idp_client_secret_env: string;
  readonly idp_token_file: string;
}

interface Rule {
  readonly path: keyof TokenSource;
  readonly message: string;
  readonly isBroken: (server: TokenSource) => boolean;
}

const isCrossApp = ({ identity }: TokenSource): boolean => identity === 'cross_app';
const givesTokensOfPeople = ({ identity }: TokenSource): boolean =>
  identity === 'exchange' || identity === 'cross_app';
const isWorkload = ({ oauth_workload_token_file: file }: TokenSource): boolean => file !== '';

const RULES: readonly Rule[] = [
  {
    path: 'oauth_issuer',
    message: 'a server with an oauth_workload_token_file needs the oauth_issuer that takes its token',
    isBroken: (server) => isWorkload(server) && server.oauth_issuer === '',
  },
  {
    path: 'oauth_workload_token_file',
    message:
      'the token of the platform is used alone: leave out token_env, oauth_client_secret_env, oauth_private_key_file and oauth_sign_in, and an identity that exchanges tokens',
    isBroken: (server) =>
      isWorkload(server) &&
      (server.token_env + server.oauth_client_secret_env + server.oauth_private_key_file !== '' ||
        server.oauth_sign_in ||
        isCrossApp(server) ||
        server.identity === 'exchange'),
  },
  {
    path: 'oauth_dpop',
    message:
      'oauth_dpop = "always" is for servers whose tokens an authorization server gives: with oauth_client_id, oauth_sign_in or oauth_workload_token_file',
    isBroken: (server) =>
      server.oauth_dpop === 'always' &&
      (server.transport === 'stdio' ||
        (server.oauth_client_id === '' && !server.oauth_sign_in && !isWorkload(server))),
  },
  {
    path: 'oauth_dpop',
    message:
      'a token that is bound to a key stands in Authorization: leave out identity_header, or oauth_dpop = "always"',
    isBroken: (server) =>
      server.oauth_dpop === 'always' && server.identity_header !== '' && givesTokensOfPeople(server),
  },
  {
    path: 'idp_issuer',
    message: 'identity = "cross_app" needs the idp_issuer that knows the people',
    isBroken: (server) => isCrossApp(server) && server.idp_issuer === '',
  },
  {
    path: 'idp_client_id',
    message:
      'identity = "cross_app" needs the idp_client_id with which tokens are exchanged at the idp_issuer',
    isBroken: (server) => isCrossApp(server) && server.idp_client_id === '',
  },
  {
    path: 'oauth_client_id',
    message:
      'identity = "cross_app" needs the client for which the oauth_issuer takes what the idp_issuer gives',
    isBroken: (server) => isCrossApp(server) && server.oauth_client_id === '',
  },
  {
    path: 'oauth_private_key_file',
    message:
      'identity = "cross_app" needs the oauth_client_secret_env of its client; a key is not used there',
    isBroken: (server) => isCrossApp(server) && server.oauth_private_key_file !== '',
  },
  {
    path: 'identity',
    message:
      'idp_issuer, idp_client_id, idp_client_secret_env and idp_token_file go with identity = "cross_app"',
    isBroken: (server) =>
      !isCrossApp(server) &&
      server.idp_issuer + server.idp_client_id + server.idp_client_secret_env + server.idp_token_file !== '',
  },
];

/** What must hold between these keys and the other credentials of a server. */
export function checkTokenSources(server: TokenSource, context: z.RefinementCtx): void {
  for (const { path, message, isBroken } of RULES)
    if (isBroken(server)) context.addIssue({ code: 'custom', path: [path], message, input: server });
}
