import { randomBytes } from 'node:crypto';
import { SecretBox } from '../secrets/secret-box.js';
import {
  CandidateBuilder,
  type OverrideContent,
  type StoredOverrides,
  sealContext,
} from './candidate-builder.js';
import { type CrossKeyCheck, InvalidSettings, type SettingsLayer } from './settings-validation.js';

const box = new SecretBox(randomBytes(32));

const file = (tree: SettingsLayer['tree']): SettingsLayer => ({
  name: 'file',
  tree,
  whereIs: () => 'gateway.toml',
});

const stored = (contents: Record<string, OverrideContent>): StoredOverrides => ({
  revision: '1',
  rows: Object.entries(contents).map(([key, content]) => ({ key, content })),
});

const values = (plain: Record<string, unknown>): StoredOverrides =>
  stored(Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, { value }])));

function build(overrides: StoredOverrides, tree: SettingsLayer['tree'] = {}, checks: CrossKeyCheck[] = []) {
  const { settings, ignored } = new CandidateBuilder(box, checks).build([file(tree)], overrides);
  return { settings, ignored: [...ignored].map(([key, { message }]) => `${key}: ${message}`) };
}

describe('merging stored overrides into file and environment', () => {
  test('overrides win over the file, and a secret opens only for its own key', () => {
    const api = 'provider.api_key';
    const { settings, ignored } = build(
      stored({
        'agent.max_turns': { value: 7 },
        [api]: { sealed: box.seal('"hush"', sealContext(api)) },
        'provider.model': { sealed: box.seal('"moved"', sealContext(api)) },
      }),
      { agent: { max_turns: 3, max_waiting: 2 } },
    );
    expect(settings.agent).toMatchObject({ max_turns: 7, max_waiting: 2 });
    expect(settings.provider).toMatchObject({ api_key: 'hush', model: '' });
    expect(ignored).toEqual([expect.stringContaining('provider.model: ')]);
  });

  test('only what no longer fits is left out, with the reason', () => {
    const { settings, ignored } = build(
      values({
        'agent.max_turns': 7,
        'agent.max_waiting': 'many',
        'agent.on_busy': 'drop',
        'gone.key': 1,
        agent: { max_turns: 9 },
        '__proto__.x': 1,
      }),
    );
    expect(settings.agent).toMatchObject({ max_turns: 7, max_waiting: 8, on_busy: 'queue' });
    expect(ignored.sort()).toEqual([
      '__proto__.x: unknown key',
      'agent.max_waiting: expected integer from 0 to 10000',
      'agent.on_busy: expected one of "queue", "reject"',
      'agent: unknown key',
      'gone.key: unknown key',
    ]);
  });

  test('a rule over several keys blames the override, not the file', () => {
    const overrides = values({ 'gateway.port': 9464, 'agent.max_turns': 7 });
    const { settings, ignored } = build(overrides, { gateway: { management_port: 9464 } });
    expect(settings.gateway.port).toBe(3120);
    expect(settings.agent.max_turns).toBe(7);
    expect(ignored).toHaveLength(1);
  });

  test('only the overrides of a thing that the file no longer has are left out', () => {
    const overrides = values({
      'mcp.servers.gone.enabled': false,
      'agent.max_turns': 7,
      'mcp.servers.kept.enabled': false,
    });
    const { settings, ignored } = build(overrides, { mcp: { servers: { kept: { command: 'run' } } } });
    expect(settings.agent.max_turns).toBe(7);
    expect(settings.mcp.servers).toMatchObject({ kept: { enabled: false } });
    expect(ignored).toEqual([
      'mcp.servers.gone.enabled: a server with the transport "stdio" needs a command',
    ]);
  });

  test('when no single override can be blamed, all are left out', () => {
    const check: CrossKeyCheck = {
      keys: ['memory.top_k'],
      problem: ({ agent }) => (agent.max_turns === 7 ? 'does not go with seven' : undefined),
    };
    const { settings, ignored } = build(values({ 'agent.max_turns': 7 }), { memory: { top_k: 1 } }, [check]);
    expect(settings.agent.max_turns).toBe(50);
    expect(ignored).toEqual(['agent.max_turns: does not fit the file and the environment']);
  });

  test('a secret sealed under another master key is left out', () => {
    const other = new SecretBox(randomBytes(32));
    const sealed = other.seal('"x"', sealContext('provider.api_key'));
    expect(build(stored({ 'provider.api_key': { sealed } })).ignored).toEqual([
      'provider.api_key: The secret was sealed under another master key.',
    ]);
  });

  test('a wrong file is still refused', () => {
    expect(() => build(values({ 'agent.max_turns': 7 }), { agent: { max_waiting: 'x' } })).toThrow(
      InvalidSettings,
    );
  });
});
