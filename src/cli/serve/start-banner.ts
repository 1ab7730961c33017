import { resolve } from 'node:path';
import type { Environment } from '../../config/environment.js';
import type { LoadedSettings } from '../../config/settings-loader.js';
import type { StartedGateway } from '../../main.js';
import { readBuildInfo } from '../../status/build-info.js';
import { databasePlace } from '../database-place.js';
import { curlLines } from './curl-lines.js';

interface Facts {
  readonly environment: Environment;
  readonly loaded: LoadedSettings;
  readonly gateway: Pick<StartedGateway, 'ports' | 'firstToken' | 'embedded' | 'provider'>;
}

/** What a person sees once the ports are open: addresses, what was chosen, and lines to paste into another terminal. */
export function startBanner(facts: Facts): string {
  const { loaded, gateway } = facts;
  const { database } = loaded.settings;
  const lines = [
    '',
    `Agent Gateway ${readBuildInfo().version} is running. Ctrl-C stops it.`,
    '',
    ...addresses(facts).map(([name, address]) => `  ${name.padEnd(12)}${address}`),
    `  ${'Database'.padEnd(12)}${databasePlace(database)}`,
    `  ${'Model'.padEnd(12)}${gateway.provider.model} (${gateway.provider.why})`,
    '',
    ...firstTokenLines(gateway.firstToken),
    'Try it in another terminal:',
    '',
    ...[tokenLine(facts), ...curlLines(urls(facts))].map((line) => `  ${line}`),
    '',
    '',
  ];
  return lines.join('\n');
}

function firstTokenLines(first: StartedGateway['firstToken']): string[] {
  if (first === undefined) return [];
  const expiry = first.token.expiresAt?.toISOString().slice(0, 10) ?? 'never';
  return [
    `The administrator's token, shown only this once (expires ${expiry}):`,
    '',
    `  ${first.secret}`,
    '',
  ];
}

/** Sets TOKEN: to the one that was just made, the one that was given, or a new one. */
function tokenLine({ environment, loaded, gateway }: Facts): string {
  if (gateway.firstToken !== undefined) return `TOKEN=${gateway.firstToken.secret}`;
  if (environment.bootstrapToken !== undefined) return 'TOKEN=$GATEWAY_BOOTSTRAP_TOKEN';
  const { data_dir: dataDir } = loaded.settings.database;
  const isUsualPlace = !gateway.embedded || resolve(dataDir) === resolve('data');
  const where = isUsualPlace ? '' : `GATEWAY_DATA_DIR=${shellQuoted(resolve(dataDir))} `;
  return `TOKEN=$(${where}npx agent-gateway auth token)`;
}

function addresses(facts: Facts): [string, string][] {
  const { a, b, operations } = urls(facts);
  const rows: [string, string | undefined][] = [
    ['Profile A', a],
    ['Profile B', b],
    ['Operations', operations && `${operations} (/livez /readyz /metrics)`],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== undefined);
}

function urls({ loaded, gateway }: Facts): Partial<Record<'a' | 'b' | 'operations', string>> {
  const host = reachableHost(loaded.settings.gateway.host);
  const { a, b, operations } = gateway.ports;
  return {
    ...(a === undefined ? {} : { a: `http://${host}:${a}/api/v1` }),
    ...(b === undefined ? {} : { b: `http://${host}:${b}/api/v1` }),
    ...(operations === undefined ? {} : { operations: `http://${host}:${operations}` }),
  };
}

/** An address that a program on this machine can ask, for one that means all of them. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function shellQuoted(text: string): string {
  return /^[A-Za-z0-9_/.:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
