import { resolve } from 'node:path';
import type { ModelProvider } from './agent/model-provider.port.js';
import { createProvider } from './agent/providers/create-provider.js';
import { chooseProvider, type ProviderChoice, providerSecrets } from './agent/providers/provider-choice.js';
import type { Environment } from './config/environment.js';
import { FixedSettings } from './config/fixed-settings.js';
import { secretValues } from './config/redaction.js';
import type { LoadedSettings } from './config/settings-loader.js';
import { type OpenDatabase, openDatabase } from './database/open-database.js';
import { migrate, warnOfDrift } from './database/schema.js';
import { openGateway, type RunningGateway } from './gateway.js';
import { type Logs } from './logs/logger.js';
import type { Redactor } from './logs/redactor.js';
import { storingLogs } from './logs/storing-logs.js';
import { openSecretBox } from './secrets/open-secret-box.js';
import type { SecretBox } from './secrets/secret-box.js';
import { defaultExpiry } from './tokens/token-expiry.js';
import { type MintedToken, TokensService } from './tokens/tokens.service.js';

export interface StartRequest {
  readonly environment: Environment;
  readonly loaded: LoadedSettings;
  readonly logs: Logs;
  readonly redactor: Redactor;
}

/** A gateway with its database: what `agent-gateway serve` runs and what the tests start. */
export interface StartedGateway extends Pick<RunningGateway, 'app' | 'ports' | 'hurry'> {
  /** The administrator's token, when this very start made it. */
  readonly firstToken: MintedToken | undefined;
  readonly embedded: boolean;
  /** What answers, and why it was chosen. */
  readonly provider: Pick<ProviderChoice, 'kind' | 'model' | 'why'>;
  /** Drains, stops, closes the database. */
  stop(): Promise<void>;
}

/** From settings to open ports. Whatever fails on the way closes what was opened before. */
export async function startGateway(request: StartRequest): Promise<StartedGateway> {
  const { environment, loaded, logs } = request;
  for (const warning of loaded.warnings) logs.for('gateway').warn(warning);
  const choice = providerChoice(environment, loaded);
  const provider = await openProvider(request, choice);
  let database = await openDatabase(loaded.settings.database, logs);
  try {
    await prepareSchema(database, logs);
    const settings = new FixedSettings(loaded.settings);
    database = storingLogs(database, settings, logs);
    const secrets = await openSecrets(request, database.embedded);
    const gateway = await openGateway({ settings, logs, dataSource: database.dataSource, provider, secrets });
    const firstToken = await installTokens(gateway, environment, database.embedded);
    return started(gateway, database, { firstToken, provider: choice });
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Which provider these settings and keys mean. Throws an `Error` that names the settings to mend. */
export function providerChoice(environment: Environment, { settings }: LoadedSettings): ProviderChoice {
  const keys = { anthropic: environment.anthropicApiKey, openai: environment.openaiApiKey };
  return chooseProvider(settings.provider, keys);
}

async function openProvider(
  { environment, loaded, logs, redactor }: StartRequest,
  choice: ProviderChoice,
): Promise<ModelProvider> {
  const { settings } = loaded;
  redactor.setFor('settings', [
    ...environment.secrets,
    ...secretValues(settings),
    ...providerSecrets(choice),
  ]);
  const { kind, model, why } = choice;
  logs.for('gateway').info('the model provider is chosen', { provider: kind, model, why });
  return createProvider(choice, { maxRetries: settings.provider.max_retries });
}

/** The box for secrets in the database; its own key is hidden from every text. */
async function openSecrets(
  { environment, loaded, redactor }: StartRequest,
  embedded: boolean,
): Promise<SecretBox> {
  const { masterKey } = environment;
  const dataDir = resolve(loaded.settings.database.data_dir);
  const production = environment.nodeEnv === 'production';
  const { box, keyText } = await openSecretBox({ masterKey, dataDir, embedded, production });
  redactor.setFor('master key', [keyText]);
  return box;
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
  facts: Pick<StartedGateway, 'firstToken' | 'provider'>,
): StartedGateway {
  return {
    ...facts,
    app: gateway.app,
    ports: gateway.ports,
    embedded: database.embedded,
    hurry: () => gateway.hurry(),
    stop: () => gateway.stop().finally(() => database.close()),
  };
}

/** Without its tokens nobody could use the gateway: then it does not stay up either. */
async function installTokens(
  gateway: RunningGateway,
  environment: Environment,
  embedded: boolean,
): Promise<MintedToken | undefined> {
  try {
    return await tokenForStart(gateway.app.get(TokensService, { strict: false }), environment, embedded);
  } catch (error) {
    gateway.hurry();
    await gateway.stop();
    throw error;
  }
}

/** The token of GATEWAY_BOOTSTRAP_TOKEN; on the embedded database without any, one for its administrator. */
async function tokenForStart(
  tokens: TokensService,
  environment: Environment,
  embedded: boolean,
): Promise<MintedToken | undefined> {
  if (environment.bootstrapToken !== undefined) {
    await tokens.install(environment.bootstrapToken);
    return undefined;
  }
  if (!embedded) return undefined;
  return tokens.createFirst({ name: 'admin', scopes: ['*'], expiresAt: defaultExpiry(), boundUserId: null });
}
