import { type Command, Option } from 'commander';
import { type GrantedScope, SCOPE_PRESETS, type ScopePreset } from '../../platform/tokens/scopes.js';
import { defaultExpiry } from '../../platform/tokens/token-expiry.js';
import {
  type ExpiryArgument,
  expiryArgument,
  nameArgument,
  scopesArgument,
  userArgument,
} from '../arguments.js';
import type { CommandContext } from '../command-context.js';
import { showMinted } from '../show-minted.js';

const EXAMPLES = `
Examples:
  TOKEN=$(agent-gateway auth token create --name laptop)
  agent-gateway auth token create --name ci --scopes sessions:read,sessions:write --expires-in 30d
  agent-gateway auth token create --name ada --preset operator --user ada`;

interface CreateOptions {
  readonly name: string;
  readonly scopes?: readonly GrantedScope[];
  readonly preset?: ScopePreset;
  readonly expiresIn?: ExpiryArgument;
  readonly user?: string;
  readonly json?: true;
}

export function addTokenCreateCommand(token: Command, context: CommandContext): void {
  token
    .command('create')
    .description('make a token; prints it alone on standard output')
    .option('--name <name>', 'what to call it in lists and logs', nameArgument, 'cli')
    .option('--scopes <list>', 'what it may do, such as sessions:read,sessions:write', scopesArgument)
    .addOption(
      new Option('--preset <preset>', 'a usual set of scopes; admin when no scopes are given')
        .choices(Object.keys(SCOPE_PRESETS))
        .conflicts('scopes'),
    )
    .option('--expires-in <time>', 'such as 90d or 12h, or never (default: 90d)', expiryArgument)
    .option('--user <id>', 'the only user whose sessions it sees', userArgument)
    .option('--json', 'print an object instead of the token alone')
    .addHelpText('after', EXAMPLES)
    .action((options: CreateOptions) => createToken(context, options));
}

async function createToken(context: CommandContext, options: CreateOptions): Promise<void> {
  const { name, user: boundUserId = null } = options;
  const expiresAt = options.expiresIn === undefined ? defaultExpiry() : options.expiresIn.at;
  const scopes = options.scopes ?? SCOPE_PRESETS[options.preset ?? 'admin'];
  await showMinted(context, 'make', options, (tokens) =>
    tokens.create({ name, scopes, expiresAt, boundUserId }),
  );
}
