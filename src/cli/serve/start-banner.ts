import { resolve } from 'node:path';
import { readBuildInfo } from '../../platform/lifecycle/build-info.js';
import type { Environment } from '../../platform/settings/environment.js';
import type { LoadedSettings } from '../../platform/settings/settings-loader.js';
import { databaseLocation } from '../existing-database.js';
import type { ServedGateway } from './served-gateway.js';

type BaseUrls = Partial<Record<'a' | 'b', string>>;

const AUTHORIZATION = '-H "Authorization: Bearer $TOKEN"';
const JSON_BODY = `-H 'Content-Type: application/json'`;

interface Facts {
  readonly environment: Environment;
  readonly loaded: LoadedSettings;
  readonly gateway: Pick<ServedGateway, 'ports' | 'firstToken' | 'signInCode' | 'embedded' | 'provider'>;
}

/** What a person sees once the ports are open: addresses, database, model, and lines to paste into another terminal. */
export function startBanner(facts: Facts): string {
  const { loaded, gateway } = facts;
  const { database } = loaded.settings;
  const lines = [
    '',
    `Agent Gateway ${readBuildInfo().version} is running. Ctrl-C stops it.`,
    '',
    ...addresses(facts).map(([name, address]) => `  ${name.padEnd(12)}${address}`),
    `  ${'Database'.padEnd(12)}${databaseLocation(database)}`,
    `  ${'Model'.padEnd(12)}${gateway.provider.model} (${gateway.provider.why})`,
    '',
    ...signInLines(signInLink(facts)),
    ...firstTokenLines(gateway.firstToken),
    'Try it in another terminal:',
    '',
    ...[tokenLine(facts), ...curlLines(urlsOf(facts))].map((line) => `  ${line}`),
    '',
    '',
  ];
  return lines.join('\n');
}

/** The console with a code that signs in once; the fragment is sent to no server. Undefined without a code. */
export function signInLink(facts: Pick<Facts, 'loaded' | 'gateway'>): string | undefined {
  const { a, b } = urlsOf(facts);
  const url = b ?? a;
  const { signInCode } = facts.gateway;
  if (signInCode === undefined || url === undefined) return undefined;
  return `${new URL(url).origin}/console#code=${signInCode}`;
}

function signInLines(link: string | undefined): string[] {
  if (link === undefined) return [];
  return [
    'The console in a browser on this machine (signs in once, within ten minutes):',
    '',
    `  ${link}`,
    '',
  ];
}

function firstTokenLines(first: ServedGateway['firstToken']): string[] {
  if (first === undefined) return [];
  const expiry = first.token.expiresAt?.toISOString().slice(0, 10) ?? 'never';
  return [
    `The administrator's token, which cannot be shown again (expires ${expiry}):`,
    '',
    `  ${first.secret}`,
    '',
  ];
}

/** Sets TOKEN to the first token, to the configured one, or to a new one. */
function tokenLine({ environment, loaded, gateway }: Facts): string {
  if (gateway.firstToken !== undefined) return `TOKEN=${gateway.firstToken.secret}`;
  if (environment.bootstrapToken !== undefined) return 'TOKEN=$GATEWAY_BOOTSTRAP_TOKEN';
  const { data_dir: dataDir } = loaded.settings.database;
  const isDefaultDir = !gateway.embedded || resolve(dataDir) === resolve('data');
  const variable = isDefaultDir ? '' : `GATEWAY_DATA_DIR=${shellQuoted(resolve(dataDir))} `;
  return `TOKEN=$(${variable}npx agent-gateway auth token create)`;
}

/**
 * Three lines for a shell in which TOKEN is set: create a session, send it a message, read it (through the other profile
 * when both are served).
 */
function curlLines({ a, b }: BaseUrls): string[] {
  const first = a ?? b;
  if (first === undefined) return [];
  const second = b ?? first;
  return [
    `SESSION=$(curl -s -X POST ${first}/sessions ${AUTHORIZATION} | grep -o 'sess_[0-9a-z]*')`,
    `curl -s ${first}/sessions/$SESSION/messages ${AUTHORIZATION} ${JSON_BODY} -d '{"content":"Hello"}'`,
    `curl -s ${second}/sessions/$SESSION ${AUTHORIZATION}`,
  ];
}

function addresses(facts: Facts): [string, string][] {
  const { a, b, operations } = urlsOf(facts);
  const rows: [string, string | undefined][] = [
    ['Profile A', a],
    ['Profile B', b],
    ['Operations', operations && `${operations} (/livez /readyz /metrics)`],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== undefined);
}

function shellQuoted(text: string): string {
  return /^[A-Za-z0-9_/.:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

interface UrlFacts {
  readonly loaded: LoadedSettings;
  readonly gateway: Pick<ServedGateway, 'ports'>;
}

/** URLs of the open ports as reachable on this machine; those of the profiles with their prefix. */
export function urlsOf({ loaded, gateway }: UrlFacts): Partial<Record<'a' | 'b' | 'operations', string>> {
  const { host: bound, management_host: managementHost } = loaded.settings.gateway;
  const host = reachableHost(bound);
  const { a, b, operations } = gateway.ports;
  return {
    ...(a === undefined ? {} : { a: `http://${host}:${a}/api/v1` }),
    ...(b === undefined ? {} : { b: `http://${host}:${b}/api/v1` }),
    ...(operations === undefined
      ? {}
      : { operations: `http://${reachableHost(managementHost || bound)}:${operations}` }),
  };
}

/** The loopback address in place of one that means all interfaces; brackets around IPv6. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
