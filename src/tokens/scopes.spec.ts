import { BadRequest } from '../errors/gateway-error.js';
import {
  grants,
  parseScopes,
  SCOPE_AREAS,
  SCOPE_PRESETS,
  SCOPES,
  type Scope,
  UnknownScope,
} from './scopes.js';

const WRITES = SCOPES.filter((scope) => scope.endsWith(':write'));
const READS = SCOPES.filter((scope) => scope.endsWith(':read'));

describe('SCOPES', () => {
  test('are read and write of the ten areas', () => {
    expect(SCOPE_AREAS).toHaveLength(10);
    expect(READS).toHaveLength(10);
    expect(WRITES).toHaveLength(10);
    expect(new Set(SCOPES).size).toBe(20);
  });
});

describe('presets', () => {
  const may = (preset: keyof typeof SCOPE_PRESETS) => SCOPES.filter((s) => grants(SCOPE_PRESETS[preset], s));

  test('admin may everything', () => {
    expect(may('admin')).toEqual(SCOPES);
  });

  test('viewer may read everything and write nothing', () => {
    expect(may('viewer')).toEqual(READS);
  });

  test('operator reads everything and runs sessions, channels, hooks, MCP and plugins, without configuring', () => {
    const runs: Scope[] = ['sessions:write', 'channels:write', 'hooks:write', 'mcp:write', 'plugins:write'];
    expect(new Set(may('operator'))).toEqual(new Set([...READS, ...runs]));
  });

  test('no preset but admin carries the star', () => {
    expect(SCOPE_PRESETS.operator).not.toContain('*');
    expect(SCOPE_PRESETS.viewer).not.toContain('*');
  });
});

describe('grants', () => {
  test('a write does not include the read of its area, nor the other way round', () => {
    expect(grants(['sessions:write'], 'sessions:read')).toBe(false);
    expect(grants(['sessions:read'], 'sessions:write')).toBe(false);
  });

  test('a scope grants itself and nothing else', () => {
    for (const held of SCOPES) {
      expect(SCOPES.filter((needed) => grants([held], needed))).toEqual([held]);
    }
  });

  test('no scopes grant nothing', () => {
    expect(SCOPES.some((scope) => grants([], scope))).toBe(false);
  });
});

describe('parseScopes', () => {
  test('drops blanks around names and repeats, and keeps one order', () => {
    expect(parseScopes([' hooks:read', 'sessions:write ', 'hooks:read'])).toEqual([
      'sessions:write',
      'hooks:read',
    ]);
  });

  test('accepts every known scope', () => {
    expect(parseScopes([...SCOPES, '*'])).toEqual([...SCOPES, '*']);
  });

  test.each(['sessions', 'sessions:*', 'session:read', 'Sessions:read', 'sessions:admin', '', '__proto__'])(
    'refuses %j naming it and the known ones',
    (text) => {
      expect(() => parseScopes(['hooks:read', text])).toThrow(UnknownScope);
      expect(() => parseScopes([text])).toThrow(`Unknown scope "${text}"; known scopes are sessions:read,`);
    },
  );

  test('does not echo a very long name', () => {
    expect(() => parseScopes(['x'.repeat(65)])).toThrow('Unknown scope of 65 characters;');
  });

  test('refuses an empty list', () => {
    expect(() => parseScopes([])).toThrow(BadRequest);
  });
});
