import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SEALED_PLACES } from '../../src/cli/sealed-places.js';
import { SECRET_VARIABLES } from '../../src/platform/settings/environment.js';
import { keyOf, leafNodes } from '../../src/platform/settings/settings-tree.js';

const CANARIES = readdirSync('test/e2e').filter((file) => /^canaries.*\.spec\.ts$/.test(file));

/** Settings whose files hold no secret. Every other file that a setting names does. */
const OPEN_FILES = [
  'agents.<name>.system_prompt_file',
  'usage.prices_file',
  'outbound.ca_file',
  'auth.jwt.<name>.ca_file',
];
/** Sealed to prevent changes; the contents are not secret. */
const SEALED_AGAINST_CHANGE = ['audit_checkpoints.signature', 'master_key_check.sealed'];
/** What seals texts, and where they are stored. Texts that `secrets rotate` skips expire by themselves. */
const SEALERS: Readonly<Record<string, readonly string[]>> = {
  'areas/assertions/assertion-keys.store.ts': ['assertion_keys.sealed_key'],
  'areas/config/override-edits.ts': ['config_overrides.sealed', 'config_changes.edits'],
  'areas/hooks/hook-secrets.ts': ['hooks.secret', 'hooks.old_secret'],
  'areas/mcp/sign-in/sign-ins.store.ts': ['client', 'flow', 'tokens'].map(
    (part) => `mcp_sign_ins.sealed_${part}`,
  ),
  'http/idempotency/key.store.ts': ['idempotency_keys.body'],
  'platform/audit-log/audit-chain.ts': ['audit_checkpoints.signature'],
  'platform/identity/identity-token.ts': ['turns.caller', 'turns.origin'],
  'platform/secrets/master-key-check.ts': ['master_key_check.sealed'],
};

const keys = leafNodes().map((node) => ({ key: keyOf(node), isSecret: node.marks.secret === true }));
const named = (ending: RegExp): string[] => keys.map(({ key }) => key).filter((key) => ending.test(key));

/** Every place from which the gateway reads a secret, or in which it stores one. */
function places(): Set<string> {
  return new Set([
    ...keys.filter(({ isSecret }) => isSecret).map(({ key }) => key),
    ...named(/_env$/),
    ...named(/_file$/).filter((key) => !OPEN_FILES.includes(key)),
    ...SECRET_VARIABLES,
    ...[
      ...SEALED_PLACES.map(({ table, column }) => `${table}.${column}`),
      ...Object.values(SEALERS).flat(),
    ].filter((place) => !SEALED_AGAINST_CHANGE.includes(place)),
  ]);
}

/** The places that calls of `canary` and `planted` name. */
function plantedPlaces(): Set<string> {
  const calls = CANARIES.flatMap((file) => [
    ...readFileSync(join('test/e2e', file), 'utf8').matchAll(
      /\b(?:canary|planted|plantedAt)\(((?:[^()]|\([^()]*\))*)\)/g,
    ),
  ]);
  const texts = calls.flatMap(([, given = '']) =>
    [...given.matchAll(/'([^']+)'/g)].map(([, text]) => text ?? ''),
  );
  return new Set(texts.filter((text) => /[.]|^[A-Z_]+$/.test(text)));
}

test('of every place of a secret, one is planted, and looked for everywhere', () => {
  const has = plantedPlaces();
  expect(places().size).toBeGreaterThan(45);
  expect([...places()].filter((place) => !has.has(place))).toEqual([]);
});

test('no canary names a place that there is not', () => {
  expect([...plantedPlaces()].filter((place) => !places().has(place))).toEqual([]);
});

test('a setting that is called a secret is marked as one', () => {
  const isCalled = (key: string): boolean =>
    /(^|[._])(secret|password|credentials?|api_key|token)$/.test(key) && !key.startsWith('limits.');
  const called = keys.filter(({ key }) => isCalled(key));
  expect(called.length).toBeGreaterThan(5);
  expect(called.filter(({ isSecret }) => !isSecret)).toEqual([]);
});

test('files that hold no secret, and everything that seals texts, are known here', () => {
  expect(OPEN_FILES.filter((file) => !named(/_file$/).includes(file))).toEqual([]);
  const sealing = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      /\.ts$/.test(file) &&
      !/\.spec\.ts$|database\/migrations/.test(file) &&
      /\b(?:box|secrets)\.seal\(/.test(readFileSync(join('src', file), 'utf8')),
  );
  // These seal through `hook-secrets`.
  const byOthers = ['areas/hooks/hook.store.ts', 'areas/hooks/task-hook.store.ts'];
  expect(sealing.filter((file) => !byOthers.includes(file)).sort()).toEqual(Object.keys(SEALERS).sort());
});
