import type { ModelProvider } from './agent/model-provider.port.js';
import { createProvider } from './agent/providers/create-provider.js';
import { chooseProvider, providerSecrets } from './agent/providers/provider-choice.js';
import type { Environment } from './config/environment.js';
import { FixedSettings } from './config/fixed-settings.js';
import { secretValues } from './config/redaction.js';
import type { LoadedSettings } from './config/settings-loader.js';
import { type OpenDatabase, openDatabase } from './database/open-database.js';
import { migrate, warnOfDrift } from './database/schema.js';
import { openGateway, type RunningGateway } from './gateway.js';
import { type Logs } from './logs/logger.js';
import type { Redactor } from './logs/redactor.js';
import { defaultExpiry } from './tokens/token-expiry.js';
import { TokensService } from './tokens/tokens.service.js';

export interface StartRequest {
  readonly environment: Environment;
  readonly loaded: LoadedSettings;
  readonly logs: Logs;
  readonly redactor: Redactor;
}

/** A gateway with its database: what `agent-gateway serve` runs and what the tests start. */
export interface StartedGateway extends Pick<RunningGateway, 'app' | 'ports' | 'hurry'> {
  /** The administrator's token, when this very start made it. */
  readonly firstToken: string | undefined;
  readonly embedded: boolean;
  /** Drains, stops, closes the database. */
  stop(): Promise<void>;
}

/** From settings to open ports. Whatever fails on the way closes what was opened before. */
export async function startGateway(request: StartRequest): Promise<StartedGateway> {
  const { environment, loaded, logs } = request;
  for (const warning of loaded.warnings) logs.for('gateway').warn(warning);
  const provider = await chosenProvider(request);
  const database = await openDatabase(loaded.settings.database, logs);
  try {
    await prepareSchema(database, logs);
    const settings = new FixedSettings(loaded.settings);
    const gateway = await openGateway({ settings, logs, dataSource: database.dataSource, provider });
    const firstToken = await installTokens(gateway, environment, database.embedded);
    return started(gateway, database, firstToken);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function chosenProvider({ environment, loaded, logs, redactor }: StartRequest): Promise<ModelProvider> {
  const { settings } = loaded;
  const keys = { anthropic: environment.anthropicApiKey, openai: environment.openaiApiKey };
  const choice = chooseProvider(settings.provider, keys);
  redactor.setFor('settings', [
    ...environment.secrets,
    ...secretValues(settings),
    ...providerSecrets(choice),
  ]);
  const { kind, model, why } = choice;
  logs.for('gateway').info('the model provider is chosen', { provider: kind, model, why });
  return createProvider(choice, { maxRetries: settings.provider.max_retries });
}

async function prepareSchema(database: OpenDatabase, logs: Logs): Promise<void> {
  const migrations = await migrate(database.address);
  const logger = logs.for('database');
  if (migrations.length > 0) logger.info('the database schema is up to date', { migrations });
  await warnOfDrift(database.dataSource, logger);
}

function started(
  gateway: RunningGateway,
  database: OpenDatabase,
  firstToken: string | undefined,
): StartedGateway {
  return {
    app: gateway.app,
    ports: gateway.ports,
    firstToken,
    embedded: database.embedded,
    hurry: () => gateway.hurry(),
    stop: async () => {
      await gateway.stop();
      await database.close();
    },
  };
}

/** The token of GATEWAY_BOOTSTRAP_TOKEN; on the embedded database without any, one for its administrator. */
async function installTokens(
  gateway: RunningGateway,
  environment: Environment,
  embedded: boolean,
): Promise<string | undefined> {
  const tokens = gateway.app.get(TokensService, { strict: false });
  if (environment.bootstrapToken !== undefined) {
    await tokens.install(environment.bootstrapToken);
    return undefined;
  }
  if (!embedded || (await tokens.hasAny())) return undefined;
  const wish = { name: 'admin', scopes: ['*'], expiresAt: defaultExpiry(), boundUserId: null } as const;
  return (await tokens.create(wish)).secret;
}
