import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { fileOnlyText, integer, millis, plainName } from './key-types.js';
import { mcpServerKeys } from './mcp-server-keys.js';

export type McpServerSettings = z.output<typeof mcpServerKeys>;

const isCrossApp = ({ identity }: McpServerSettings): boolean => identity === 'cross_app';
const givesTokensOfPeople = ({ identity }: McpServerSettings): boolean =>
  identity === 'exchange' || identity === 'cross_app';
const isWorkload = ({ oauth_workload_token_file: file }: McpServerSettings): boolean => file !== '';
const hasOtherTokens = (server: McpServerSettings): boolean =>
  server.token_env + server.oauth_client_secret_env + server.oauth_private_key_file !== '' ||
  server.oauth_sign_in ||
  givesTokensOfPeople(server);
const hasAuthorizationServer = (server: McpServerSettings): boolean =>
  server.transport !== 'stdio' &&
  (server.oauth_client_id !== '' || server.oauth_sign_in || isWorkload(server));
const hasProvider = (server: McpServerSettings): boolean =>
  server.idp_issuer + server.idp_client_id + server.idp_client_secret_env + server.idp_token_file !== '';

/** One tool server, with what must hold between its transport and its credentials. */
const mcpServer = mcpServerKeys
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
  .refine((server) => !isWorkload(server) || server.oauth_issuer !== '', {
    path: ['oauth_issuer'],
    message: 'a server with an oauth_workload_token_file needs the oauth_issuer that takes its token',
  })
  .refine((server) => !isWorkload(server) || !hasOtherTokens(server), {
    path: ['oauth_workload_token_file'],
    message:
      'the token of the platform is used alone: leave out token_env, oauth_client_secret_env, oauth_private_key_file and oauth_sign_in, and an identity that exchanges tokens',
  })
  .refine((server) => server.oauth_dpop !== 'always' || hasAuthorizationServer(server), {
    path: ['oauth_dpop'],
    message:
      'oauth_dpop = "always" is for servers whose tokens an authorization server gives: with oauth_client_id, oauth_sign_in or oauth_workload_token_file',
  })
  .refine(
    (server) =>
      server.oauth_dpop !== 'always' || server.identity_header === '' || !givesTokensOfPeople(server),
    {
      path: ['oauth_dpop'],
      message:
        'a token that is bound to a key stands in Authorization: leave out identity_header, or oauth_dpop = "always"',
    },
  )
  .refine((server) => !isCrossApp(server) || server.idp_issuer !== '', {
    path: ['idp_issuer'],
    message: 'identity = "cross_app" needs the idp_issuer that knows the people',
  })
  .refine((server) => !isCrossApp(server) || server.idp_client_id !== '', {
    path: ['idp_client_id'],
    message:
      'identity = "cross_app" needs the idp_client_id with which tokens are exchanged at the idp_issuer',
  })
  .refine((server) => !isCrossApp(server) || server.oauth_client_id !== '', {
    path: ['oauth_client_id'],
    message:
      'identity = "cross_app" needs the client for which the oauth_issuer takes what the idp_issuer gives',
  })
  .refine((server) => !isCrossApp(server) || server.oauth_private_key_file === '', {
    path: ['oauth_private_key_file'],
    message:
      'identity = "cross_app" needs the oauth_client_secret_env of its client; a key is not used there',
  })
  .refine((server) => isCrossApp(server) || !hasProvider(server), {
    path: ['identity'],
    message:
      'idp_issuer, idp_client_id, idp_client_secret_env and idp_token_file go with identity = "cross_app"',
  });

export const mcpSection = z.strictObject({
  state_dir: fileOnlyText().describe(
    'Folder that holds the folders of users of stdio servers; empty uses mcp in the data folder.',
  ),
  servers: z.record(plainName(32), mcpServer).default({}).describe('The tool servers, by name.'),
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
