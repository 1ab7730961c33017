import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { httpUrl, integer, millis } from './key-types.js';
import { assertionKeys, bindingKeys, checkTokenSources } from './mcp-token-keys.js';

const MAX_TEXT_LENGTH = 4096;
const MAX_ENTRIES = 256;

const text = () => z.string().max(MAX_TEXT_LENGTH);
const fileOnlyText = () => text().default('').register(keyMarks, { fileOnly: true });
const fileOnlyList = () =>
  z.array(text()).max(MAX_ENTRIES).default([]).register(keyMarks, { fileOnly: true });
const secretTable = () =>
  z
    .record(z.string().min(1).max(256), text())
    .default({})
    .register(keyMarks, { fileOnly: true, secret: true });
const patterns = () => z.array(z.string().min(1).max(128)).max(MAX_ENTRIES);

/** One tool server. Only the file and the environment may choose a program, a place or a credential. */
const mcpServer = z
  .strictObject({
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
    ...bindingKeys,
    ...assertionKeys,
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
  })
  .refine(({ transport, command }) => transport !== 'stdio' || command !== '', {
    path: ['command'],
    message: 'a server with the transport "stdio" needs a command',
  })
  .refine(({ transport, url }) => transport === 'stdio' || url !== '', {
    path: ['url'],
    message: 'a server with the transport "http" or "sse" needs a url',
  })
  .refine((server) => server.oauth_client_id === '' || server.oauth_issuer !== '', {
    path: ['oauth_issuer'],
    message: 'a server with an oauth_client_id needs the oauth_issuer that knows it',
  })
  .refine((server) => server.oauth_private_key_file === '' || server.oauth_client_secret_env === '', {
    path: ['oauth_private_key_file'],
    message: 'a client has a secret or a private key, not both',
  })
  .refine(({ oauth_sign_in: signsIn, transport }) => !signsIn || transport === 'http', {
    path: ['oauth_sign_in'],
    message: 'only to a server with the transport "http" can anybody sign in',
  })
  .refine(({ oauth_sign_in: signsIn, token_env: name }) => !signsIn || name === '', {
    path: ['token_env'],
    message: 'with oauth_sign_in the token comes from the sign-in; leave one of the two out',
  })
  .refine(({ oauth_sign_in: signsIn, identity }) => !signsIn || identity === 'none', {
    path: ['identity'],
    message: 'with oauth_sign_in all calls have the rights of whoever signed in; leave one of the two out',
  })
  .refine(({ oauth_sign_in: signsIn, oauth_private_key_file: key }) => !signsIn || key === '', {
    path: ['oauth_private_key_file'],
    message: 'a client with which people sign in has a secret or nothing; a key is not used there',
  })
  .refine(({ identity, oauth_private_key_file: key }) => identity !== 'exchange' || key === '', {
    path: ['oauth_private_key_file'],
    message: 'identity = "exchange" needs the oauth_client_secret_env of its client; a key is not used there',
  })
  .refine(({ identity, transport }) => identity === 'none' || transport !== 'stdio', {
    path: ['identity'],
    message:
      'only a server with the transport "http" or "sse" is sent a proof; stdio servers are told in _meta',
  })
  .refine((server) => server.identity !== 'exchange' || server.oauth_client_id !== '', {
    path: ['oauth_client_id'],
    message: 'identity = "exchange" needs the client with which tokens are exchanged at the oauth_issuer',
  })
  .superRefine(checkTokenSources);

export const mcpSection = z.strictObject({
  state_dir: fileOnlyText().describe(
    'Folder that holds the folders of users of stdio servers; empty uses mcp in the data folder.',
  ),
  servers: z
    .record(
      z
        .string()
        .max(32)
        .regex(/^[a-z0-9]+([_-][a-z0-9]+)*$/, 'small letters and digits, with single - or _ between them'),
      mcpServer,
    )
    .default({})
    .describe('The tool servers, by name.'),
  question_timeout_ms: millis(120_000).describe(
    'How long a question of a tool waits for a person before it counts as declined, in milliseconds.',
  ),
  max_child_memory_mb: integer(0, 1_048_576)
    .default(2048)
    .register(keyMarks, { fileOnly: true })
    .describe('Most data memory of one process of a stdio server, in MiB; 0 for no limit.'),
  max_child_files: integer(0, 1_048_576)
    .default(1024)
    .register(keyMarks, { fileOnly: true })
    .describe('Most open files of one process of a stdio server; 0 for no limit.'),
  max_child_processes: integer(0, 1_048_576)
    .default(512)
    .register(keyMarks, { fileOnly: true })
    .describe(
      'Most processes and threads of one stdio server, in the sandbox or where control groups can be used; 0 for no limit.',
    ),
  max_child_total_memory_mb: integer(0, 1_048_576)
    .default(4096)
    .register(keyMarks, { fileOnly: true })
    .describe(
      'Most memory of one stdio server with all its processes and temporary files, in MiB, where control groups can be used; 0 for no limit.',
    ),
  max_child_tmp_mb: integer(1, 1_048_576)
    .default(512)
    .register(keyMarks, { fileOnly: true })
    .describe("stdio in the sandbox: size of a server's own /tmp, which lies in memory, in MiB."),
  max_child_shm_mb: integer(1, 1_048_576)
    .default(64)
    .register(keyMarks, { fileOnly: true })
    .describe("stdio in the sandbox: size of a server's own /dev/shm, in MiB."),
});

/** The gateway as an MCP server. */
export const mcpServerSection = z.strictObject({
  expose_tools: z
    .boolean()
    .default(false)
    .register(keyMarks, { security: true })
    .describe(
      'Whether /mcp offers the tools of the gateway beside its agents, each under the rules of its caller.',
    ),
});

export type McpServerSettings = z.output<typeof mcpServer>;
