import { BadRequest } from '../../common/errors/gateway-error.js';
import { grants, parseScopes, SCOPE_PRESETS, SCOPES, UnknownScope } from './scopes.js';

const WRITES = SCOPES.filter((scope) => scope.endsWith(':write'));
const READS = SCOPES.filter((scope) => scope.endsWith(':read'));

test('each scope is one name, a read or a write, except the one to act for others', () => {
  expect(new Set(SCOPES).size).toBe(SCOPES.length);
  expect([...READS, ...WRITES, 'users:act_as'].sort()).toEqual([...SCOPES].sort());
  expect(SCOPES).toEqual(expect.arrayContaining(['approvals:read', 'approvals:write', 'security:write']));
});

describe('presets', () => {
  const may = (preset: keyof typeof SCOPE_PRESETS) => SCOPES.filter((s) => grants(SCOPE_PRESETS[preset], s));

  test('admin may do everything', () => {
    expect(may('admin')).toEqual(SCOPES);
  });

  test('viewer may read everything except who may call and who did what, and write nothing', () => {
    expect(may('viewer')).toEqual(READS.filter((scope) => !['tokens:read', 'audit:read'].includes(scope)));
  });

  test('operator may do everything except change who may do what', () => {
    expect(may('operator')).toEqual(
      SCOPES.filter((scope) => !['tokens:write', 'security:write'].includes(scope)),
    );
  });

  test('only admin has the star', () => {
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
