import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { fileOnlyText, httpUrl, integer, MAX_TEXT_LENGTH, millis, patterns } from './key-types.js';

const text = () => z.string().max(MAX_TEXT_LENGTH);
const fileOnlyList = () => z.array(text()).max(256).default([]).register(keyMarks, { fileOnly: true });
const secretTable = () =>
  z
    .record(z.string().min(1).max(256), text())
    .default({})
    .register(keyMarks, { fileOnly: true, secret: true });

/** One tool server. Only the file and the environment may choose a program, a place or a credential. */
export const mcpServerKeys = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether the gateway connects to the server.'),
  transport: z
    .enum(['stdio', 'http', 'sse'])
    .default('stdio')
    .register(keyMarks, { fileOnly: true })
    .describe('stdio starts a child process; http is streamable HTTP; sse its predecessor.'),
  command: fileOnlyText().describe('stdio: the program; looked up in PATH.'),
  args: fileOnlyList().describe(
    `stdio: its arguments; \${user_state} in them is the folder of the user for whom it runs.`,
  ),
  cwd: fileOnlyText().describe(
    'stdio: the folder it runs in; empty uses the user\'s own, or with isolation = "shared" that of the gateway.',
  ),
  isolation: z
    .enum(['shared', 'user', 'session'])
    .default('user')
    .register(keyMarks, { fileOnly: true })
    .describe(
      'Whose calls share a connection, and for stdio a child: those of one user, of one session of a user, or all (shared).',
    ),
  max_connections: integer(1, 1024)
    .default(32)
    .describe(
      'Most connections of users or sessions at once, in addition to the one that lists the tools. Past it, the connection that was idle longest is closed; when all are busy, the call fails.',
    ),
  idle_secs: integer(1, 86_400)
    .default(300)
    .describe('How long a connection of a user or session stays open without calls, in seconds.'),
  env: secretTable().describe(
    'stdio: variables it gets besides HOME, LOGNAME, PATH, SHELL, TERM and USER; references in values are replaced from the environment.',
  ),
  writable_paths: fileOnlyList().describe(
    'stdio in the sandbox: the folders it may write to, besides its own /tmp.',
  ),
  readable_paths: fileOnlyList().describe(
    'stdio in the sandbox: folders and files it may read, besides the system, its program, its working folder and what its arguments name.',
  ),
  network: z
    .boolean()
    .default(true)
    .register(keyMarks, { fileOnly: true })
    .describe('stdio in the sandbox: whether it has a network.'),
  url: httpUrl()
    .default('')
    .register(keyMarks, { fileOnly: true, secret: true })
    .describe('http and sse: URL of the server; only public addresses, unless [security] allows others.'),
  headers: secretTable().describe('http and sse: headers of every request.'),
  token_env: fileOnlyText().describe('http and sse: name of the variable that holds the bearer token.'),
  identity: z
    .enum(['none', 'assertion', 'exchange', 'cross_app'])
    .default('none')
    .register(keyMarks, { fileOnly: true })
    .describe(
      'http and sse: how each request proves for which user it is made. assertion: a JWT of the gateway; exchange: a token of the user, for which oauth_issuer takes that JWT (RFC 8693); cross_app: a token of the user, which oauth_issuer gives for the token with which they came, by way of idp_issuer (ID-JAG).',
    ),
  identity_header: z
    .string()
    .max(128)
    .regex(/^([A-Za-z][A-Za-z0-9-]*)?$/, 'must be the name of a header: letters, digits and -')
    .default('')
    .register(keyMarks, { fileOnly: true })
    .describe('http and sse: the header that carries only this proof; empty uses Authorization: Bearer.'),
  oauth_sign_in: z
    .boolean()
    .default(false)
    .register(keyMarks, { fileOnly: true })
    .describe(
      'http: whether an operator signs in to it with a browser (authorization code with PKCE); all calls then have the rights of whoever signed in. Needs gateway.public_url.',
    ),
  oauth_client_id: fileOnlyText().describe(
    'http and sse: client id for OAuth client credentials; empty for none. With oauth_sign_in the id of a client that is registered already; empty registers one.',
  ),
  oauth_client_secret_env: fileOnlyText().describe(
    'Name of the variable that holds the secret of that client.',
  ),
  oauth_private_key_file: fileOnlyText().describe(
    'File with a private key in place of the secret, with which that client signs (private_key_jwt): PKCS #8 as PEM, of RSA, P-256, P-384, P-521 or Ed25519. Read at every connection.',
  ),
  oauth_issuer: fileOnlyText().describe(
    'Issuer of the authorization server of that client; the secret is sent nowhere else.',
  ),
  oauth_scope: fileOnlyText().describe('Scopes to ask for, separated by spaces.'),
  oauth_dpop: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .register(keyMarks, { fileOnly: true })
    .describe(
      'http and sse: whether the tokens of the authorization server are bound to a key of the gateway, so that nobody else can use them (DPoP, RFC 9449). auto: where its metadata says that it can; always: without it there is no connection; never: tokens of whoever bears them.',
    ),
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
  pin_tools: z
    .boolean()
    .default(false)
    .register(keyMarks, { security: true })
    .describe(
      'Whether tools that a known server adds later wait for an operator too, like those that change.',
    ),
  resources: z
    .boolean()
    .default(true)
    .describe(
      'Whether its resources can be read, with the tools read_resource and list_resources of this server.',
    ),
  prompts: z
    .boolean()
    .default(true)
    .describe('Whether people may ask for its prompts, as /server-prompt in a message.'),
  sampling: z
    .boolean()
    .default(false)
    .register(keyMarks, { security: true })
    .describe(
      'Whether its tools may ask the model of the turn while they run; the turn pays, and its limits and budgets apply.',
    ),
  roots: z
    .boolean()
    .default(false)
    .register(keyMarks, { security: true })
    .describe(
      'stdio: whether it is told its working folder and writable_paths (roots of the protocol); some servers then use these folders instead of those that their arguments name.',
    ),
  elicitation: z
    .boolean()
    .default(true)
    .describe('Whether its tools may ask people questions while they run.'),
  startup_timeout_ms: millis(10_000, 600_000).describe(
    'Longest time from the start to the list of tools, in milliseconds; a server that was too slow gets twice the time at the next attempt.',
  ),
  request_timeout_ms: millis(60_000).describe(
    'Longest silence during a call, in milliseconds; a progress report restarts it.',
  ),
  health_interval_ms: millis(15_000).describe(
    'Time between two checks that the server still answers, in milliseconds.',
  ),
  health_timeout_ms: millis(10_000, 600_000).describe(
    'Longest wait for the answer to such a health check, in milliseconds.',
  ),
  allow_tools: patterns()
    .default(['*'])
    .register(keyMarks, { security: true })
    .describe("Tools that may be used, by the server's own names; * stands for any characters."),
  deny_tools: patterns()
    .default([])
    .register(keyMarks, { security: true })
    .describe('Tools that may not be used, even if allow_tools names them.'),
});
