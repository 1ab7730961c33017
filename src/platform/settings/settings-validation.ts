import type { z } from 'zod';
import { BadRequest } from '../../common/errors/gateway-error.js';
import { deleteAt, formatPath, mergeTables, type Path, readAt, type Table } from './dotted-path.js';
import { nearestKey, unknownKeyText } from './nearest-key.js';
import { type GatewaySettings, settingsSchema } from './settings.schema.js';
import { nodeAt } from './settings-tree.js';
import { typeText } from './value-text.js';

/** Where a value comes from; later layers win. */
export type LayerName = 'default' | 'file' | 'environment' | 'override';

/** One source of settings: the tree of what it sets, and where in the source each path is set. */
export interface SettingsLayer {
  readonly name: LayerName;
  readonly tree: Table;
  /** `gateway.toml:12`, or the name of a variable. A path within a value gets the place of the value. */
  readonly whereIs: (path: Path) => string;
}

/** A layer as it was read, and what is wrong with its source. */
export interface ReadLayer {
  readonly layer: SettingsLayer;
  readonly problems: readonly SettingsProblem[];
}

/** Merges the layers; later ones win. A table that is one key, such as headers, is replaced whole. */
export function mergeLayers(layers: readonly SettingsLayer[]): Table {
  return mergeTables(
    layers.map(({ tree }) => tree),
    (path) => nodeAt(path)?.kind === 'leaf',
  );
}

interface Validated {
  /** Undefined when anything is wrong. */
  readonly settings?: GatewaySettings;
  readonly problems: readonly SettingsProblem[];
}

/** Merges the layers and checks the result: every key, then the rules over several keys, including those of areas. */
export function validateLayers(
  layers: readonly SettingsLayer[],
  otherChecks: readonly CrossKeyCheck[] = [],
): Validated {
  const tree = mergeLayers(layers);
  const result = settingsSchema.safeParse(tree);
  const issues = result.success ? [] : result.error.issues.flatMap(describeIssue);
  const known = result.data ?? withoutWrong(tree, issues);
  const broken = brokenRules([...crossKeyChecks, ...otherChecks], layers, known, issues);
  const problems = [...issues, ...broken].map(({ path, message }) => ({
    ...sourceOfIssue(path, layers),
    key: formatPath(path),
    message,
  }));
  return result.success && problems.length === 0 ? { settings: result.data, problems } : { problems };
}

/** Where the value at a path is set: by the last layer that sets it, or else its nearest ancestor. */
function sourceOfIssue(path: Path, layers: readonly SettingsLayer[]): { where: string; layer?: LayerName } {
  const layer = layerThatSets(path, layers);
  if (layer !== undefined) return { where: layer.whereIs(path), layer: layer.name };
  return path.length > 1 ? sourceOfIssue(path.slice(0, -1), layers) : { where: '' };
}

/** The last layer that sets a path: the one whose value counts. */
export function layerThatSets(path: Path, layers: readonly SettingsLayer[]): SettingsLayer | undefined {
  return layers[lastToSet(path, layers)];
}

function lastToSet(path: Path, layers: readonly SettingsLayer[]): number {
  return layers.findLastIndex(({ tree }) => readAt(tree, path) !== undefined);
}

interface WrongKey {
  readonly path: Path;
  readonly message: string;
}

/** The settings without the wrong values, so that the rules over several keys can still be checked. */
function withoutWrong(tree: Table, wrong: readonly WrongKey[]): GatewaySettings | undefined {
  for (const { path } of wrong) deleteAt(tree, path.slice(0, 2));
  return settingsSchema.safeParse(tree).data;
}

/** What breaks the rules; skips those that read a key that is already known to be wrong. */
function brokenRules(
  checks: readonly CrossKeyCheck[],
  layers: readonly SettingsLayer[],
  settings: GatewaySettings | undefined,
  wrong: readonly WrongKey[],
): readonly WrongKey[] {
  if (settings === undefined) return [];
  const known = new Set(wrong.map(({ path }) => formatPath(path.slice(0, 2))));
  return checks
    .filter(({ keys }) => !keys.some((key) => known.has(key)))
    .flatMap(({ keys, problem }) => {
      const message = problem(settings);
      return message === undefined ? [] : { path: blamed(keys, layers), message };
    });
}

/** The first of the keys that the latest layer sets. */
function blamed(keys: readonly string[], layers: readonly SettingsLayer[]): Path {
  return keys
    .map((key) => key.split('.'))
    .reduce((one, other) => (lastToSet(other, layers) > lastToSet(one, layers) ? other : one));
}

const maxShownLength = 64;

/** What is wrong and what is allowed, for each key, without the value. */
function describeIssue(issue: z.core.$ZodIssue): readonly WrongKey[] {
  const path = issue.path.map(String);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => unknownKey([...path, name]));
    case 'custom':
      return [{ path, message: issue.message }];
    case 'invalid_key':
      return [{ path, message: `the name is not allowed: ${issue.issues[0]?.message ?? issue.message}` }];
    default:
      return [{ path, message: allowed(path, issue.message) }];
  }
}

function unknownKey(path: Path): WrongKey {
  const shown = path.map((name) =>
    name.length > maxShownLength ? `${name.slice(0, maxShownLength)}…` : name,
  );
  return { path: shown, message: unknownKeyText(nearestKey(path)) };
}

function allowed(path: Path, fallback: string): string {
  const node = nodeAt(path);
  return node === undefined ? fallback : `expected ${typeText(node.schema)}`;
}

/**
 * A rule over several keys: the keys it reads, and what is wrong, if anything. The problem is reported for the first of
 * the keys that the latest layer sets.
 */
export interface CrossKeyCheck {
  readonly keys: readonly [string, ...string[]];
  readonly problem: (settings: GatewaySettings) => string | undefined;
}

const ports = ['port', 'profile_a_port', 'management_port'] as const;

const crossKeyChecks: readonly CrossKeyCheck[] = [
  samePort('profile_a_port', 'port'),
  samePort('management_port', 'port'),
  samePort('management_port', 'profile_a_port'),
  {
    keys: ['mcp.servers', 'gateway.public_url'],
    problem: ({ mcp, gateway }) =>
      gateway.public_url === '' && Object.values(mcp.servers).some((server) => server.oauth_sign_in)
        ? 'a server with oauth_sign_in needs gateway.public_url: browsers come back to it from the sign-in'
        : undefined,
  },
  {
    keys: ['mcp.servers', 'auth.jwt'],
    problem: ({ mcp, auth }) =>
      Object.values(mcp.servers).every(
        ({ identity, idp_issuer: issuer }) =>
          identity !== 'cross_app' || Object.values(auth.jwt).some((known) => known.issuer === issuer),
      )
        ? undefined
        : 'the idp_issuer of a server with identity = "cross_app" is no issuer of [auth.jwt]: nobody could come with a token of it',
  },
];

function samePort(one: (typeof ports)[number], other: (typeof ports)[number]): CrossKeyCheck {
  return {
    keys: [`gateway.${one}`, `gateway.${other}`],
    problem: ({ gateway }) =>
      gateway[one] !== 0 && gateway[one] === gateway[other] ? `must differ from gateway.${other}` : undefined,
  };
}

/** One problem. No part of it repeats a value, because any value may be a misplaced secret. */
export interface SettingsProblem {
  /** `gateway.toml:12`, or the name of the environment variable. */
  readonly where: string;
  /** The dotted key; empty for a problem without one, such as a file that is not TOML. */
  readonly key: string;
  /** What is wrong and what is allowed. */
  readonly message: string;
  /** The layer that sets the key, if any does. */
  readonly layer?: LayerName;
}

/** Further problems are only counted. */
const MAX_LISTED = 100;

/** Everything that is wrong with the configuration at once: stops a start, and answers a change with 400. */
export class InvalidSettings extends BadRequest {
  constructor(readonly problems: readonly SettingsProblem[]) {
    super(summary(problems), {
      details: {
        reason: 'invalid_settings',
        fields: problems
          .slice(0, MAX_LISTED)
          .map(({ where, key, message }) => ({ path: key || where, message })),
      },
    });
  }
}

function summary(problems: readonly SettingsProblem[]): string {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  const lines = problems.slice(0, MAX_LISTED).map(line);
  if (problems.length > MAX_LISTED) lines.push(`  and ${problems.length - MAX_LISTED} more`);
  return [`The configuration has ${count}:`, ...lines].join('\n');
}

function line({ where, key, message }: SettingsProblem): string {
  return `  ${[where, key, message].filter((part) => part !== '').join(': ')}`;
}
