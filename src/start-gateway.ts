import { resolve } from 'node:path';
import type { Configuration } from './areas/config/configuration.js';
import { openConfiguration } from './areas/config/open-configuration.js';
import {
  ProviderSetting,
  providerChecks,
  providerChoice,
  providerKeys,
} from './areas/models/provider-setting.js';
import { ConsoleSignIn } from './areas/tokens/console-sign-in.service.js';
import type { ServedGateway, StartRequest } from './cli/serve/served-gateway.js';
import { stackOf } from './common/errors/error-text.js';
import { beginStart, type EarlyStart } from './early-start.js';
import { openGateway, type RunningGateway } from './gateway.js';
import { Database } from './platform/database/database.js';
import { type OpenDatabase, openDatabase } from './platform/database/open-database.js';
import { migrate, warnOfDrift } from './platform/database/schema.js';
import { startStep } from './platform/database/start-step.js';
import { readBuildInfo } from './platform/lifecycle/build-info.js';
import { storingLogs } from './platform/logging/log-writer.js';
import { Egress } from './platform/outbound/egress.js';
import { claimMasterKey } from './platform/secrets/master-key-check.js';
import { openSecretBox } from './platform/secrets/open-secret-box.js';
import type { SecretBox } from './platform/secrets/secret-box.js';
import { secretValues } from './platform/settings/redaction.js';
import type { GatewaySettings } from './platform/settings/settings.schema.js';
import { defaultExpiry } from './platform/tokens/api-token.js';
import { type MintedToken, TokensService } from './platform/tokens/tokens.service.js';
import { type StopTelemetry, startTelemetryExport } from './platform/tracing/telemetry-export.js';
import { tables } from './tables.js';

/** A gateway with its database: what `agent-gateway serve` runs and what the tests start. */
export interface StartedGateway extends ServedGateway, Pick<RunningGateway, 'app'> {}

/** From settings to open ports. A failure on the way closes everything that was opened before it. */
export async function startGateway(
  request: StartRequest,
  early = beginStart(request),
): Promise<StartedGateway> {
  try {
    return await goOn(request, early);
  } catch (error) {
    await early.server.then(
      (server) => server.close(),
      () => undefined,
    );
    throw error;
  }
}

async function goOn(request: StartRequest, { replica, server }: EarlyStart): Promise<StartedGateway> {
  const { environment, loaded, logs } = request;
  for (const warning of loaded.warnings) logs.for('gateway').warn(warning);
  providerChoice(environment, loaded);
  const egress = new Egress(environment.egress, loaded.settings.outbound.ca_file);
  hideSecrets(request);
  const stopTelemetry = await startTelemetryExport(
    environment.telemetry,
    { version: readBuildInfo().version, replicaId: replica.value },
    logs,
  );
  let database = await openDatabase(loaded.settings.database, logs, tables, server);
  try {
    const opened = database;
    await step(request, 'run migrations', () => migrate(opened.address, logs.for('database')));
    const secrets = await openSecrets(request, database.embedded);
    const own = new Database(opened.dataSource);
    await step(request, 'check the master key', () => claimMasterKey(own, secrets));
    const configuration = await step(request, 'read what was changed at run time', () =>
      openLiveConfiguration(request, opened, secrets),
    );
    database = storingLogs(database, configuration.live, logs);
    const { providers, choice } = await openLiveProviders(request, configuration, egress);
    const { dataSource } = database;
    const { redactor } = request;
    const foundation = {
      ...{ configuration, environment, redactor, logs, dataSource, providers, secrets, replica, egress },
    };
    const gateway = await openGateway(foundation);
    const firstToken = await installTokens(gateway, request, database.embedded);
    // A caller that waits for `/readyz` brings a token, and a refusal would be remembered.
    gateway.ready();
    const compared = warnOfDrift(database.dataSource, logs.for('database'));
    const signInCode = signInCodeOf(gateway, configuration.live.current.gateway);
    return started(gateway, database, { firstToken, signInCode, provider: choice, stopTelemetry, compared });
  } catch (error) {
    await stopTelemetry();
    await database.close();
    throw error;
  }
}

/** Each step is safe to repeat. */
function step<Result>({ logs, signal }: StartRequest, what: string, take: () => Promise<Result>) {
  return startStep({ what, logger: logs.for('database'), signal }, take);
}

function hideSecrets({ environment, loaded, redactor }: StartRequest): void {
  const { secrets } = environment;
  redactor.setFor('environment', [...secrets, ...secrets.map((secret) => secret.trim())]);
  redactor.setFor('settings', secretValues(loaded.settings));
}

/** Merges the changes made at run time into the loaded settings; from here on the configuration follows changes. */
async function openLiveConfiguration(
  { environment, loaded, logs, redactor }: StartRequest,
  { dataSource }: OpenDatabase,
  box: SecretBox,
): Promise<Configuration> {
  const database = new Database(dataSource);
  const checks = providerChecks(providerKeys(environment));
  const listens = true;
  const configuration = await openConfiguration({
    ...{ environment, loaded, database, box, logs, redactor, checks, listens },
  });
  const { live } = configuration;
  logs.setLevel(live.current.logging.level);
  live.changes.listen(['logging.level'], ({ after }) => logs.setLevel(after.logging.level));
  return configuration;
}

async function openLiveProviders(
  { environment, logs, redactor }: StartRequest,
  configuration: Configuration,
  egress: Egress,
) {
  const parts = { keys: providerKeys(environment), egress, redactor, logger: logs.for('gateway') };
  const setting = await ProviderSetting.open(configuration.live.current, parts);
  configuration.live.changes.prepareWith(setting);
  return { providers: setting.providers, choice: setting.choice };
}

/** The box for secrets in the database. Its key is redacted from all output. */
async function openSecrets(
  { environment, loaded, redactor }: StartRequest,
  embedded: boolean,
): Promise<SecretBox> {
  const { masterKey, previousMasterKey: previousKey } = environment;
  const dataDir = resolve(loaded.settings.database.data_dir);
  const production = environment.nodeEnv === 'production';
  const { box, keyText, previousText } = await openSecretBox({
    ...{ masterKey, previousKey, dataDir, embedded, production },
  });
  redactor.setFor('master key', previousText === undefined ? [keyText] : [keyText, previousText]);
  return box;
}

function started(
  gateway: RunningGateway,
  database: OpenDatabase,
  {
    stopTelemetry,
    compared,
    ...facts
  }: Pick<StartedGateway, 'firstToken' | 'signInCode' | 'provider'> & {
    stopTelemetry: StopTelemetry;
    /** The comparison of the schema; only closing the database waits for it. */
    compared: Promise<void>;
  },
): StartedGateway {
  return {
    ...facts,
    app: gateway.app,
    ports: gateway.ports,
    embedded: database.embedded,
    hurry: () => gateway.hurry(),
    stop: (options) =>
      gateway
        .stop(options)
        .finally(stopTelemetry)
        .finally(() => compared)
        .finally(() => database.close()),
  };
}

/**
 * Anyone who starts a gateway on loopback may open its console; elsewhere a link in a log would be a key for others.
 */
function signInCodeOf(
  gateway: RunningGateway,
  { host, faces }: GatewaySettings['gateway'],
): string | undefined {
  const isLoopback = host === 'localhost' || host === '::1' || host.startsWith('127.');
  if (!isLoopback || !faces.includes('console') || !faces.includes('admin')) return undefined;
  return gateway.app.get(ConsoleSignIn, { strict: false }).createCode();
}

/** Without its tokens no one could use the gateway, so a failure here stops it again. */
async function installTokens(
  gateway: RunningGateway,
  request: StartRequest,
  embedded: boolean,
): Promise<MintedToken | undefined> {
  try {
    return await tokenForStart(gateway.app.get(TokensService, { strict: false }), request, embedded);
  } catch (error) {
    gateway.hurry();
    // Why the start ends matters more than what its end met.
    await gateway.stop().catch((failure: unknown) => {
      request.logs.for('gateway').error('the gateway did not stop in order', { error: stackOf(failure) });
    });
    throw error;
  }
}

/** A replica that still starts with the previous token changes nothing: it does not bring that token back. */
const OLD_BOOTSTRAP_TOKEN =
  'GATEWAY_BOOTSTRAP_TOKEN is a token that was revoked, or replaced by a newer one: requests with it are refused; to have another one, make it with "agent-gateway auth token mint"';

/** Installs the token of GATEWAY_BOOTSTRAP_TOKEN. Without it, makes the administrator's first token, on the embedded database only. */
async function tokenForStart(
  tokens: TokensService,
  request: StartRequest,
  embedded: boolean,
): Promise<MintedToken | undefined> {
  const { environment, logs } = request;
  const { bootstrapToken } = environment;
  if (bootstrapToken !== undefined) {
    const isInForce = await step(request, 'install GATEWAY_BOOTSTRAP_TOKEN', () =>
      tokens.install(bootstrapToken),
    );
    if (!isInForce) logs.for('tokens').warn(OLD_BOOTSTRAP_TOKEN);
    return undefined;
  }
  if (!embedded) return undefined;
  return tokens.createFirst({ name: 'admin', scopes: ['*'], expiresAt: defaultExpiry(), boundUserId: null });
}
