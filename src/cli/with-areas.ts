import { type AgentOverview, readAgents } from '../areas/agents/agent-overview.js';
import { HookStore } from '../areas/hooks/hook.store.js';
import { HookAdmin } from '../areas/hooks/hook-admin.js';
import { HookSecrets } from '../areas/hooks/hook-secrets.js';
import { TokenHooks } from '../areas/hooks/token-hooks.js';
import { ErasedFolders } from '../areas/mcp/sandbox/erased-folders.js';
import { KnownTools } from '../areas/mcp/tools/known-tools.store.js';
import { MemoryStore } from '../areas/memory/memory.store.js';
import { MemoryAdmin } from '../areas/memory/memory-admin.js';
import { providerChoice } from '../areas/models/provider-setting.js';
import { type Person, personOf } from '../areas/privacy/person.js';
import { UserEraser } from '../areas/privacy/user-eraser.js';
import { UserExport } from '../areas/privacy/user-export.js';
import { DatabaseToolApprovals } from '../areas/tools/database-tool-approvals.js';
import { ToolQuestions } from '../areas/tools/questions/tool-questions.js';
import type { ToolApprovals } from '../areas/tools/tool-approvals.port.js';
import { VerdictWatch } from '../areas/tools/verdict-watch.js';
import { TokenWaitingTurns } from '../areas/turns/accepted/token-waiting-turns.js';
import { UsageReports } from '../areas/usage/usage-reports.js';
import { AuditAdmin } from '../platform/audit-log/audit-admin.js';
import { AuditLog } from '../platform/audit-log/audit-log.js';
import { EventSignal } from '../platform/events/event.store.js';
import { Denials } from '../platform/identity/denials.service.js';
import { Redactor } from '../platform/logging/redactor.js';
import { KeyRotation } from '../platform/secrets/key-rotation.js';
import { TokenStore } from '../platform/tokens/token.store.js';
import { TokenEndings } from '../platform/tokens/token-endings.js';
import { TokensService } from '../platform/tokens/tokens.service.js';
import { offerOf } from './agent-offer.js';
import { type CommandContext, operatorActor } from './command-context.js';
import { databaseLocation } from './existing-database.js';
import { SEALED_PLACES } from './sealed-places.js';
import { withConfiguration } from './with-configuration.js';
import { type DatabaseAccess, withDatabase } from './with-database.js';

export interface TokenWork {
  readonly tokens: TokensService;
  /** The database, named for people. */
  readonly location: string;
}

/** Opens the API tokens. */
export function withTokens<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (given: TokenWork) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database, loaded }) => {
    const tokens = new TokensService(new TokenStore(database), database, endings());
    return work({ tokens, location: databaseLocation(loaded.settings.database) });
  });
}

/** What ends with a token or an identity. */
const endings = (): TokenEndings => TokenEndings.of(new TokenHooks(), new TokenWaitingTurns());

export interface DenialWork {
  readonly denials: Denials;
  /** The issuers that the settings name. */
  readonly issuers: readonly string[];
}

/** Opens the denials of identities. */
export function withDenials<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (given: DenialWork) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database, loaded }) => {
    const issuers = Object.values(loaded.settings.auth.jwt).map(({ issuer }) => issuer);
    return work({ denials: new Denials(database, endings()), issuers });
  });
}

export interface ToolWork {
  readonly known: KnownTools;
  readonly approvals: ToolApprovals;
  readonly questions: ToolQuestions;
  /** The person at this command line, for the audit log. */
  readonly by: string;
}

/** Opens known tools, pending approvals and questions. */
export function withTools<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (given: ToolWork) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database, logs }) => {
    const audit = new AuditLog(database, new Redactor(), logs);
    const approvals = new DatabaseToolApprovals(
      database,
      audit,
      new EventSignal(),
      new VerdictWatch(database),
    );
    const questions = new ToolQuestions(database, audit);
    return work({ known: new KnownTools(database, audit), approvals, questions, by: operatorActor() });
  });
}

/** Opens webhooks and their deliveries, without their secrets. */
export function withHooks<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (admin: HookAdmin) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database }) => work(new HookAdmin(database)));
}

/** Opens webhooks with the key to their secrets, for commands that change those. */
export function withHookSecrets<Result>(
  context: CommandContext,
  work: (store: HookStore) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, 'change', async ({ database, openBox }) =>
    work(new HookStore(database, new HookSecrets(await openBox()))),
  );
}

/** Opens the memories of users. */
export function withMemory<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (admin: MemoryAdmin) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database, logs }) => {
    const audit = new AuditLog(database, new Redactor(), logs);
    return work(new MemoryAdmin(database, new MemoryStore(database), audit));
  });
}

/** Opens the audit. Reading it is written down, so the schema must be current. */
export function withAudit<Result>(
  context: CommandContext,
  work: (admin: AuditAdmin) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, 'change', ({ database, logs, openBox }) => {
    const audit = new AuditLog(database, new Redactor(), logs);
    return work(new AuditAdmin(database, audit, openBox));
  });
}

/** Opens what is sealed, with both keys. */
export function withKeyRotation<Result>(
  context: CommandContext,
  work: (rotation: KeyRotation) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, 'change', async ({ database, logs, openBox }) => {
    const audit = new AuditLog(database, new Redactor(), logs);
    return work(new KeyRotation(database, await openBox(), audit, SEALED_PLACES));
  });
}

export interface PrivacyWork {
  readonly person: Person;
  readonly exporter: UserExport;
  readonly eraser: UserEraser;
}

/** Opens everything that is stored of a person. */
export function withPerson<Result>(
  context: CommandContext,
  userId: string,
  work: (given: PrivacyWork) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, 'change', async ({ database, logs, openBox }) => {
    const audit = new AuditLog(database, new Redactor(), logs);
    const store = new TokenStore(database);
    const person = personOf(userId, (await openBox()).keyFor('agent-gateway erased users'));
    const tokens = new TokensService(store, database, endings());
    const exporter = new UserExport(database, audit);
    const eraser = new UserEraser(database, tokens, store, audit, new ErasedFolders(database));
    return work({ person, exporter, eraser });
  });
}

/** Opens what turns used and cost. */
export function withUsage<Result>(
  context: CommandContext,
  work: (reports: UsageReports) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, 'read', ({ database }) => work(new UsageReports(database)));
}

/** Reads the agents as the settings have them, with the changes made at run time, and what they do by the database. */
export function withAgents<Result>(
  context: CommandContext,
  work: (agents: readonly AgentOverview[]) => Result,
): Promise<Result> {
  return withConfiguration(context, 'read', async ({ configuration, database }) => {
    const { settings } = configuration.live.snapshot;
    const agents = await readAgents(database, settings, {
      offer: await offerOf(settings),
      defaultModel: providerChoice(context.environment, { settings }).model,
    });
    return work(agents);
  });
}
