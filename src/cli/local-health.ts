import { randomBytes } from 'node:crypto';
import { ConfigStore } from '../areas/config/config.store.js';
import { HookLimits } from '../areas/hooks/hook-limits.js';
import { type HealthPart, healthPart } from '../areas/status/health-part.js';
import { clockPart, databasePart, diskPart, keysPart } from '../areas/status/host-parts.js';
import { limitsPart } from '../areas/status/limits-part.js';
import { replicasPart, tokensPart, turnsPart } from '../areas/status/stored-parts.js';
import { TokenLimits } from '../areas/turns/limits/token-limits.js';
import { BudgetReports } from '../areas/usage/budget-reports.js';
import type { Database } from '../platform/database/database.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import { CandidateBuilder } from '../platform/settings/candidate-builder.js';
import { FixedSettings } from '../platform/settings/settings.js';
import type { LoadedSettings } from '../platform/settings/settings-loader.js';
import { checkedSettings } from './checked-settings.js';
import type { CommandContext } from './command-context.js';
import { failureSentence } from './failure-sentence.js';
import { withDatabase } from './with-database.js';

const PROBE_MS = 3000;

/**
 * The parts of a gateway that can be checked from its own machine while it does not answer. Never rejects, and creates
 * nothing: no schema, no key file, no cluster.
 *
 * Unlike other commands it opens no application context: one with the settings in force is refused for a wrong master
 * key or a schema that is too old, and here that is a finding beside which the other parts are still examined.
 */
export async function localParts(context: CommandContext): Promise<readonly HealthPart[]> {
  let loaded: LoadedSettings;
  try {
    loaded = checkedSettings(context);
  } catch (error) {
    const advice = '"agent-gateway config check" says the same; docs/configuration.md has every key.';
    return [healthPart('configuration', 'failing', failureSentence(error), advice)];
  }
  const { settings } = loaded;
  return [
    configurationPart(loaded),
    await gatewayPart(settings.gateway.management_port),
    ...(await databaseParts(context)),
    await asked('disk', 'Does the data folder exist, and may this user read it?', () =>
      diskPart(settings.database),
    ),
  ];
}

function configurationPart({ file, warnings }: LoadedSettings): HealthPart {
  const from = file === undefined ? 'of variables and defaults' : `of ${file}, variables and defaults`;
  if (warnings.length === 0) return healthPart('configuration', 'ok', `the settings ${from} are valid`);
  return healthPart('configuration', 'warning', warnings.join('; '), 'Mend it, or remove the key.');
}

/** Whether a gateway with these settings runs here. */
async function gatewayPart(port: number): Promise<HealthPart> {
  const url = `http://127.0.0.1:${port}/readyz`;
  const advice = 'Start it with "agent-gateway serve"; if it ends again, its last lines say why.';
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) });
    if (status === 200) {
      const detail = `a gateway answers at ${url}`;
      return healthPart('gateway', 'ok', `${detail}; with --url it says how the rest does`);
    }
    return healthPart(
      'gateway',
      'failing',
      `a gateway at ${url} is not ready (${status})`,
      'Look at its log.',
    );
  } catch {
    return healthPart('gateway', 'failing', `no gateway answers at ${url}`, advice);
  }
}

async function databaseParts(context: CommandContext): Promise<readonly HealthPart[]> {
  try {
    return await withDatabase(context, 'read', async ({ database, loaded, missing, openBox }) => [
      ...(missing.length === 0 ? await currentParts(database, loaded) : [schemaPart(missing)]),
      await clockPart(database, 'this computer'),
      await asked('keys', 'Set GATEWAY_MASTER_KEY to the key that this database was used with.', async () =>
        keysPart(database, await openBox()),
      ),
    ]);
  } catch (error) {
    const advice = 'Look at the PostgreSQL server and at DATABASE_URL or GATEWAY_DATA_DIR.';
    return [healthPart('database', 'failing', failureSentence(error), advice)];
  }
}

/** What a database of this version shows, whether or not a gateway runs. */
async function currentParts(database: Database, loaded: LoadedSettings): Promise<HealthPart[]> {
  const parts: [name: string, () => Promise<HealthPart>][] = [
    ['database', () => databasePart(database, database.poolUse)],
    ['replicas', () => replicasPart(database)],
    ['tokens', () => tokensPart(database)],
    ['turns', () => turnsPart(database)],
    ['limits', () => limitsOf(database, loaded)],
  ];
  const found: HealthPart[] = [];
  for (const [name, ask] of parts) found.push(await asked(name, 'Look at the PostgreSQL server.', ask));
  return found;
}

/** What replicas keep in memory, such as streams, cannot be seen from here. */
async function limitsOf(database: Database, { layers }: LoadedSettings): Promise<HealthPart> {
  // No limit is a secret, so a key that opens nothing is enough to read them.
  const builder = new CandidateBuilder(new SecretBox(randomBytes(32)), []);
  const { settings } = builder.build(layers, await new ConfigStore(database).load());
  const inForce = new FixedSettings(settings);
  return limitsPart(new BudgetReports(database, inForce), [
    new TokenLimits(database, inForce).all(),
    new HookLimits(database, inForce).all(),
  ]);
}

function schemaPart(missing: readonly string[]): HealthPart {
  const detail = `its schema is older than this program: ${missing.length} migrations are missing`;
  return healthPart('database', 'failing', detail, 'Run "agent-gateway migrate", or start the gateway.');
}

async function asked(name: string, advice: string, ask: () => Promise<HealthPart>): Promise<HealthPart> {
  try {
    return await ask();
  } catch (error) {
    return healthPart(name, 'failing', failureSentence(error), advice);
  }
}
