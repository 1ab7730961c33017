import { type DynamicModule, Module, type Provider, type Type } from '@nestjs/common';
import { ConfigStore } from '../areas/config/config.store.js';
import { Configuration } from '../areas/config/configuration.js';
import { HookStore } from '../areas/hooks/hook.store.js';
import { HookAdmin } from '../areas/hooks/hook-admin.js';
import { HookSecrets } from '../areas/hooks/hook-secrets.js';
import { TokenHooks } from '../areas/hooks/token-hooks.js';
import { ErasedFolders } from '../areas/mcp/sandbox/erased-folders.js';
import { KnownTools } from '../areas/mcp/tools/known-tools.store.js';
import { MemoryStore } from '../areas/memory/memory.store.js';
import { MemoryAdmin } from '../areas/memory/memory-admin.js';
import { UserEraser } from '../areas/privacy/user-eraser.js';
import { UserExport } from '../areas/privacy/user-export.js';
import { DatabaseToolApprovals } from '../areas/tools/database-tool-approvals.js';
import { ToolQuestions } from '../areas/tools/questions/tool-questions.js';
import { ToolApprovals } from '../areas/tools/tool-approvals.port.js';
import { VerdictWatch } from '../areas/tools/verdict-watch.js';
import { TokenWaitingTurns } from '../areas/turns/accepted/token-waiting-turns.js';
import { UsageReports } from '../areas/usage/usage-reports.js';
import { AuditAdmin } from '../platform/audit-log/audit-admin.js';
import { AuditLog } from '../platform/audit-log/audit-log.js';
import { Database } from '../platform/database/database.js';
import { EventSignal } from '../platform/events/event.store.js';
import { Denials } from '../platform/identity/denials.service.js';
import { Logs } from '../platform/logging/logger.js';
import { Redactor } from '../platform/logging/redactor.js';
import { KeyRotation } from '../platform/secrets/key-rotation.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import { Environment } from '../platform/settings/environment.js';
import { FixedSettings, Settings } from '../platform/settings/settings.js';
import type { GatewaySettings } from '../platform/settings/settings.schema.js';
import { TokenStore } from '../platform/tokens/token.store.js';
import { TokenEndings } from '../platform/tokens/token-endings.js';
import { TokensService } from '../platform/tokens/tokens.service.js';
import { SEALED_PLACES } from './sealed-places.js';

/** What a command opened before its application. */
export interface CommandFoundation {
  readonly environment: Environment;
  readonly database: Database;
  readonly logs: Logs;
  readonly redactor: Redactor;
  /** Of file and environment. */
  readonly settings: GatewaySettings;
  /** For commands that need the master key only sometimes. */
  readonly openBox: () => Promise<SecretBox>;
  /** Opened for commands that cannot do without it. */
  readonly box?: SecretBox;
  /** Opened for commands that work on what was changed at run time. */
  readonly configuration?: Configuration;
}

/** The stores and services of areas that commands use, as the gateway has them, without the loops that its modules start. */
const SERVICES: readonly Provider[] = [
  ...[AuditLog, EventSignal, ConfigStore],
  ...[TokenStore, TokenEndings, TokensService, TokenHooks, TokenWaitingTurns, Denials],
  ...[HookAdmin, MemoryStore, MemoryAdmin, UsageReports],
  ...[KnownTools, VerdictWatch, ToolQuestions, { provide: ToolApprovals, useClass: DatabaseToolApprovals }],
  ...[UserExport, ErasedFolders],
  {
    provide: UserEraser,
    useFactory: (...parts: ConstructorParameters<typeof UserEraser>) => new UserEraser(...parts),
    inject: [Database, TokensService, TokenStore, AuditLog, ErasedFolders],
  },
];

/** Those that seal and open: only for commands that open the box. */
const SEALING_SERVICES: readonly Provider[] = [
  ...[HookSecrets, HookStore],
  {
    provide: KeyRotation,
    useFactory: (database: Database, box: SecretBox, audit: AuditLog) =>
      new KeyRotation(database, box, audit, SEALED_PLACES),
    inject: [Database, SecretBox, AuditLog],
  },
];

/** What local commands use: `app.get(TokensService)`. It listens nowhere and starts nothing. */
@Module({})
export class CommandLineModule {
  static of(given: CommandFoundation): DynamicModule {
    const { database, openBox, box, configuration } = given;
    const audit = {
      provide: AuditAdmin,
      useFactory: (log: AuditLog) => new AuditAdmin(database, log, openBox),
      inject: [AuditLog],
    };
    return {
      module: CommandLineModule,
      providers: [
        value(Environment, given.environment),
        value(Database, database),
        value(Logs, given.logs),
        value(Redactor, given.redactor),
        value(Settings, configuration?.live ?? new FixedSettings(given.settings)),
        ...[...SERVICES, audit],
        ...(box === undefined ? [] : [value(SecretBox, box), ...SEALING_SERVICES]),
        ...(configuration === undefined ? [] : [value(Configuration, configuration)]),
      ],
    };
  }

  constructor(endings: TokenEndings, ofHooks: TokenHooks, ofTurns: TokenWaitingTurns) {
    endings.add(ofHooks);
    endings.add(ofTurns);
  }
}

function value<Of>(provide: Type<Of> | (abstract new (...args: never[]) => Of), useValue: Of): Provider {
  return { provide, useValue };
}
