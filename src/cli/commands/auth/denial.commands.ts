import { type Command, Option } from 'commander';
import type { Denial, DeniedIdentity } from '../../../platform/identity/denials.service.js';
import { Settings } from '../../../platform/settings/settings.js';
import { inApplication } from '../../application.js';
import { identityArgument } from '../../arguments.js';
import { type CommandContext, operatorActor } from '../../command-context.js';
import { jsonText } from '../../terminal-text.js';

const DENY_EXAMPLES = `
Examples:
  agent-gateway auth deny --issuer https://login.example.com/ --subject 248289761001
  agent-gateway auth deny --issuer https://login.example.com/ --jti 7f0c2b1e      one token that leaked`;

interface DenialOptions {
  readonly issuer: string;
  readonly subject?: string;
  readonly jti?: string;
  readonly json?: true;
}

/** `auth deny`, `auth allow` and `auth denied`: identities of the company's identity provider that are refused. */
export function addDenialCommands(auth: Command, context: CommandContext): void {
  const deny = withIdentity(
    auth,
    'deny',
    'refuse an identity, or one token, of [auth.jwt] everywhere within 1.5 s, and end what it made',
  );
  deny.addHelpText('after', DENY_EXAMPLES).action(async (options: DenialOptions) => {
    const denied = deniedOf(deny, options);
    const { Denials } = await import('../../../platform/identity/denials.service.js');
    const { isNew, issuers } = await inApplication(context, 'change', async (app) => ({
      isNew: await app.get(Denials).deny(denied, operatorActor()),
      issuers: Object.values(app.get(Settings).current.auth.jwt).map(({ issuer }) => issuer),
    }));
    if (!issuers.includes(denied.issuer)) {
      const known = issuers.length === 0 ? 'there is none' : `it names ${issuers.join(', ')}`;
      context.terminal.err(`Warning: no issuer of [auth.jwt] is called ${denied.issuer}; ${known}.\n`);
    }
    report(context, options, isNew ? 'is denied.' : 'was denied already; what it made since has ended.');
  });
  const allow = withIdentity(auth, 'allow', 'lift a denial; what it ended stays ended');
  allow.action(async (options: DenialOptions) => {
    const { Denials } = await import('../../../platform/identity/denials.service.js');
    const denied = deniedOf(allow, options);
    const wasDenied = await inApplication(context, 'change', (app) => app.get(Denials).allow(denied));
    report(context, options, wasDenied ? 'is allowed again.' : 'was not denied.');
  });
  addDenied(auth, context);
}

function addDenied(auth: Command, context: CommandContext): void {
  auth
    .command('denied')
    .description('list the identities and tokens of [auth.jwt] that are denied')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const { Denials } = await import('../../../platform/identity/denials.service.js');
      const list = await inApplication(context, 'read', (app) => app.get(Denials).list());
      const { terminal } = context;
      if (options.json) terminal.out(jsonText({ denied: list.map(denialJson) }));
      else
        for (const one of list)
          terminal.out(`${one.deniedAt.toISOString()}  ${nameOf(one)}  by ${one.deniedBy}\n`);
      if (list.length === 0 && options.json === undefined) terminal.err('Nobody is denied.\n');
    });
}

function withIdentity(auth: Command, name: string, description: string): Command {
  return auth
    .command(name)
    .description(description)
    .requiredOption('--issuer <url>', 'the claim iss of its tokens, to the letter', identityArgument)
    .addOption(
      new Option('--subject <id>', 'whose tokens: the claim that auth.jwt.<name>.user_claim names')
        .argParser(identityArgument)
        .conflicts('jti'),
    )
    .addOption(new Option('--jti <id>', 'the claim jti of one token').argParser(identityArgument))
    .option('--json', 'print an object');
}

function deniedOf(command: Command, { issuer, subject, jti }: DenialOptions): DeniedIdentity {
  if (subject !== undefined) return { issuer, subject };
  if (jti !== undefined) return { issuer, jti };
  return command.error('error: name whom: --subject <id>, or --jti <id> for one token');
}

function report(
  { terminal }: CommandContext,
  { issuer, subject, jti, json }: DenialOptions,
  what: string,
): void {
  const named = {
    issuer,
    ...(subject === undefined ? {} : { subject }),
    ...(jti === undefined ? {} : { jti }),
  };
  if (json) terminal.out(jsonText(named));
  terminal.err(`${subject === undefined ? `token ${jti}` : subject} of ${issuer} ${what}\n`);
}

function denialJson(denial: Denial) {
  const { issuer, subject, jti } = denial;
  const whom = subject === null ? { jti } : { subject };
  return { issuer, ...whom, denied_at: denial.deniedAt.toISOString(), denied_by: denial.deniedBy };
}

function nameOf({ issuer, subject, jti }: Denial): string {
  return subject === null ? `token ${jti} of ${issuer}` : `${subject} of ${issuer}`;
}
