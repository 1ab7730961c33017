import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { algorithmFor, type DpopMode, isBoundAs, modeAsked, modeFor } from './dpop-terms.js';

const ISSUER = 'https://login.test';

test.each<[string, DpopMode, unknown, string | undefined]>([
  ['the first that we like', 'auto', ['none', 'RS256', 'EdDSA', 'ES256'], 'ES256'],
  ['another that we can do', 'always', ['PS256', 'ES384'], 'ES384'],
  ['none where it offers nothing', 'auto', undefined, undefined],
  ['none where it offers what nobody can do', 'auto', ['none', 'HS256', 7, null], undefined],
  ['none where it offers no list', 'auto', 'ES256', undefined],
  ['none where nobody wants one', 'never', ['ES256'], undefined],
])('the algorithm of a key: %s', (_what, mode, offered, algorithm) => {
  expect(algorithmFor(mode, ISSUER, offered)).toBe(algorithm);
});

test.each<[unknown, string]>([
  [undefined, `${ISSUER} does not say that it binds tokens to keys`],
  [['RS256'], `${ISSUER} binds tokens only to keys of other algorithms than ES256, EdDSA`],
])('always is a failure with %j, which says what to do', (offered, problem) => {
  expect(() => algorithmFor('always', ISSUER, offered)).toThrow(problem);
  expect(() => algorithmFor('always', ISSUER, offered)).toThrow('With "auto" they are');
});

test.each<[unknown, boolean]>([
  ['DPoP', true],
  ['dpop', true],
  ['Bearer', false],
  [undefined, false],
  [['DPoP'], false],
])('a token of the type %j is bound: %s; always takes no other', (type, isBound) => {
  expect(isBoundAs('auto', ISSUER, type)).toBe(isBound);
  if (isBound) expect(isBoundAs('always', ISSUER, type)).toBe(true);
  else expect(() => isBoundAs('always', ISSUER, type)).toThrow('another token_type than DPoP');
});

test('a server that asks for bearer tokens alone gets them, unless the settings want others', () => {
  expect([modeAsked('auto', true), modeAsked('auto', false)]).toEqual(['never', 'auto']);
  expect([modeAsked('always', true), modeAsked('never', true)]).toEqual(['always', 'never']);
});

test('a token that stands in a header of its own is not bound', () => {
  const server = { identity_header: '', oauth_dpop: 'auto' } as McpServerSettings;
  expect(modeFor(server)).toBe('auto');
  expect(modeFor({ ...server, identity_header: 'X-User' })).toBe('never');
});
