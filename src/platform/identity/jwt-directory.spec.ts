import { generateKeyPair, SignJWT } from 'jose';
import { settingsSchema } from '../settings/settings.schema.js';
import { JwtDirectory } from './jwt-directory.js';

const ISSUER = 'https://login.example.com/';

/** The issuers of a configuration in which this preset is the role of everybody. */
function issuersWith(preset: string) {
  const corp = { issuer: ISSUER, audience: 'gateway', roles: { '*': { preset } } };
  const { auth } = settingsSchema.parse({ auth: { jwt: { corp } } });
  return new Map(Object.values(auth.jwt).map((issuer) => [issuer.issuer, issuer]));
}

test('a token that waited while its roles were taken away has the old ones once, and no longer', async () => {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const signed = new SignJWT({}).setProtectedHeader({ alg: 'RS256' }).setIssuer(ISSUER).setSubject('ann');
  const token = await signed.setAudience('gateway').setIssuedAt().setExpirationTime('5m').sign(privateKey);
  let current = issuersWith('admin');
  let change = (): void => undefined;
  const issuers = {
    all: () => current,
    onKeysFetched: () => undefined,
    onReconfigured: (listener: () => void) => {
      change = listener;
    },
    keysOf: () => ({ keyAtHand: () => Promise.resolve(publicKey) }),
    areForTools: () => false,
  };
  const denials = { isAnyDenied: () => Promise.resolve(false) };
  const revisions = { isFresh: () => true, denials: '1' };
  const parts = [issuers, denials, revisions, {}] as unknown as ConstructorParameters<typeof JwtDirectory>;
  const directory = new JwtDirectory(...parts);
  let letIn = (): void => undefined;
  const enter = () =>
    new Promise<void>((resolve) => {
      letIn = resolve;
    });
  const gate = { enter, outside: <Result>(work: () => Promise<Result>) => work(), leave: () => undefined };
  const waiting = directory.find(token, () => gate);
  current = issuersWith('viewer');
  change();
  letIn();
  const before = await waiting;
  const after = await directory.find(token);
  expect(before?.scopes).not.toEqual(after?.scopes);
  expect(after?.scopes).toEqual((await directory.find(token))?.scopes);
  expect(after?.scopes).not.toContain('config:write');
});
