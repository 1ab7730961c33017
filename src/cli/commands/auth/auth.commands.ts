import { type Command, Option } from 'commander';
import { Settings } from '../../../platform/settings/settings.js';
import { defaultExpiry } from '../../../platform/tokens/api-token.js';
import { type GrantedScope, SCOPE_PRESETS, type ScopePreset } from '../../../platform/tokens/scopes.js';
import { mintToken } from '../../../platform/tokens/token-format.js';
import type { MintedToken, TokensService } from '../../../platform/tokens/tokens.service.js';
import { inApplication } from '../../application.js';
import {
  agentsArgument,
  type ExpiryArgument,
  expiryArgument,
  nameArgument,
  scopesArgument,
  secondsArgument,
  userArgument,
} from '../../arguments.js';
import type { CommandContext } from '../../command-context.js';
import { jsonText } from '../../terminal-text.js';
import { mintedJson, mintedSentence, tokenJson, tokenTable } from '../../token-text.js';
import type { DatabaseAccess } from '../../with-database.js';
import { addDenialCommands } from './denial.commands.js';

const CREATE_EXAMPLES = `
Examples:
  TOKEN=$(agent-gateway auth token create --name laptop)
  agent-gateway auth token create --name ci --scopes sessions:read,sessions:write --expires-in 30d
  agent-gateway auth token create --name ada --preset operator --user ada`;

const ROTATE_EXAMPLES = `
Examples:
  agent-gateway auth token rotate ci                    the old token ends at once
  agent-gateway auth token rotate ci --keep-old 1h      the old token works for another hour`;

interface CreateOptions {
  readonly name: string;
  readonly scopes?: readonly GrantedScope[];
  readonly preset?: ScopePreset;
  readonly expiresIn?: ExpiryArgument;
  readonly user?: string;
  readonly agent?: readonly string[];
  readonly json?: true;
}

interface RotateOptions {
  readonly expiresIn?: ExpiryArgument;
  readonly keepOld?: number;
  readonly json?: true;
}

/** `auth token …`: the tokens that callers of the API present. */
export function addAuthCommands(program: Command, context: CommandContext): void {
  const auth = program.command('auth').description('who may call the API');
  const token = auth.command('token').description('API tokens');
  addCreate(token, context);
  addList(token, context);
  addRevoke(token, context);
  addRotate(token, context);
  addMint(token, context);
  addDenialCommands(auth, context);
}

function addCreate(token: Command, context: CommandContext): void {
  token
    .command('create')
    .description('create a token; only the token goes to standard output')
    .option('--name <name>', 'its name in lists and logs', nameArgument, 'cli')
    .option('--scopes <list>', 'what it may do, such as sessions:read,sessions:write', scopesArgument)
    .addOption(
      new Option('--preset <preset>', 'a usual set of scopes; admin when no scopes are given')
        .choices(Object.keys(SCOPE_PRESETS))
        .conflicts('scopes'),
    )
    .option('--expires-in <time>', 'such as 90d or 12h, or never (default: 90d)', expiryArgument)
    .option('--user <id>', 'the only user whose sessions it sees', userArgument)
    .option('--agent <list>', 'the only agents that it may use, the first one by default', agentsArgument)
    .option('--json', 'print an object instead of the token alone')
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (options: CreateOptions) => {
      const { name, user: boundUserId = null, agent: agents } = options;
      const expiresAt = options.expiresIn === undefined ? defaultExpiry() : options.expiresIn.at;
      const scopes = options.scopes ?? SCOPE_PRESETS[options.preset ?? 'admin'];
      await showMinted(context, 'make', options, (tokens) =>
        tokens.create({ name, scopes, expiresAt, boundUserId, ...(agents !== undefined && { agents }) }),
      );
    });
}

function addList(token: Command, context: CommandContext): void {
  token
    .command('list')
    .description('list all tokens with their names and scopes, revoked ones too; never a token itself')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const { result: list, location } = await withTokens(context, 'read', (tokens) => tokens.list());
      const { terminal } = context;
      if (options.json) terminal.out(jsonText({ tokens: list.map(tokenJson) }));
      else if (list.length === 0) terminal.err(`There are no tokens in ${location}.\n`);
      else terminal.out(tokenTable(list));
    });
}

function addRevoke(token: Command, context: CommandContext): void {
  token
    .command('revoke')
    .description('end a token; every gateway on the database refuses it within 1.5 s')
    .argument('<id|name>', 'its id, or its name when only one has it')
    .option('--json', 'print an object')
    .action(async (idOrName: string, options: { readonly json?: true }) => {
      const { result: revoked } = await withTokens(context, 'change', (tokens) => tokens.revoke(idOrName));
      const { terminal } = context;
      if (options.json) terminal.out(jsonText(tokenJson(revoked)));
      else terminal.err(`token ${revoked.id} "${revoked.name}" is revoked.\n`);
    });
}

function addRotate(token: Command, context: CommandContext): void {
  token
    .command('rotate')
    .description('replace a token by a new one with the same name, scopes and user; the old one ends at once')
    .argument('<id|name>', 'its id, or its name when only one has it')
    .option(
      '--expires-in <time>',
      'such as 90d or 12h, or never (default: never for a token that never expires, else 90d)',
      expiryArgument,
    )
    .addOption(
      new Option('--keep-old [time]', 'let the old one also work for a while, such as 24h')
        .argParser(secondsArgument)
        .preset('24h'),
    )
    .option('--json', 'print an object instead of the token alone')
    .addHelpText('after', ROTATE_EXAMPLES)
    .action(async (idOrName: string, options: RotateOptions) => {
      const keepOldSecs = options.keepOld ?? 0;
      const rotation = { expiresAt: options.expiresIn?.at, keepOldSecs };
      await showMinted(context, 'change', options, (tokens) => tokens.rotate(idOrName, rotation));
      const until = new Date(Date.now() + keepOldSecs * 1000).toISOString();
      if (keepOldSecs > 0) context.terminal.err(`The old token works until ${until} at the latest.\n`);
    });
}

function addMint(token: Command, { terminal }: CommandContext): void {
  token
    .command('mint')
    .description('print a fresh token without storing it, for GATEWAY_BOOTSTRAP_TOKEN of a new gateway')
    .option('--json', 'print an object instead of the token alone')
    .action((options: { readonly json?: true }) => {
      const token = mintToken();
      terminal.out(options.json ? jsonText({ token }) : `${token}\n`);
      terminal.err('It works once a gateway has started with it in GATEWAY_BOOTSTRAP_TOKEN.\n');
    });
}

/** Prints a new token alone on standard output, for `$(…)`, and a sentence about it on standard error. */
async function showMinted(
  context: CommandContext,
  access: DatabaseAccess,
  { json = false }: { readonly json?: boolean },
  make: (tokens: TokensService) => Promise<MintedToken>,
): Promise<void> {
  const { result: minted, location } = await withTokens(context, access, make);
  const { terminal } = context;
  terminal.out(json ? jsonText(mintedJson(minted)) : `${minted.secret}\n`);
  terminal.err(`${mintedSentence(minted, location)}\n`);
}

/** Works on the API tokens. @returns the result, with the database named for people */
async function withTokens<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (tokens: TokensService) => Promise<Result>,
): Promise<{ readonly result: Result; readonly location: string }> {
  const [{ TokensService: Tokens }, { databaseLocation }] = await Promise.all([
    import('../../../platform/tokens/tokens.service.js'),
    import('../../existing-database.js'),
  ]);
  return inApplication(context, access, async (app) => ({
    result: await work(app.get(Tokens)),
    location: databaseLocation(app.get(Settings).current.database),
  }));
}
