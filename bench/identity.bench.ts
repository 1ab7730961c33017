import { generateKeyPair, SignJWT } from 'jose';
import { CallerDirectory } from '../src/platform/identity/caller-directory.js';
import type { Denials } from '../src/platform/identity/denials.service.js';
import { JwtDirectory } from '../src/platform/identity/jwt-directory.js';
import type { JwtIssuers } from '../src/platform/identity/jwt-issuers.service.js';
import { SecretBox } from '../src/platform/secrets/secret-box.js';
import type { CredentialRevisions } from '../src/platform/tokens/credential-revisions.js';
import type { TokenDirectory } from '../src/platform/tokens/token-directory.js';
import type { Benchmark, Row } from './benchmark.js';
import { atMost, informs, short } from './harness/rows.js';
import { median } from './harness/statistics.js';
import { TIMING } from './harness/timing.js';

const ISSUER = 'https://login.example.com/';
const TOKENS = 200;
const TAKES = 20_000;
/** Groups of a user in a company: the token has about 1.3 KB. */
const GROUPS = Array.from({ length: 20 }, (_, n) => `department-${n}-members`);

/** What a caller with a JWT costs compared with one with an API token, for tokens seen before and for new ones. */
export const identity: Benchmark = { name: 'identity', run };

async function run(): Promise<readonly Row[]> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const issuer = {
    ...{ issuer: ISSUER, audience: 'agent-gateway', algorithms: ['RS256'], user_claim: 'sub' },
    ...{ roles_claim: 'groups', max_token_age_secs: 86_400, jwks_url: '', ca_file: '', jwks_token_file: '' },
    roles: { 'department-7-members': { scopes: ['sessions:read'], bound: true } },
  };
  const known = new Map([[ISSUER, issuer]]);
  const issuers = {
    all: () => known,
    keysOf: () => ({ keyAtHand: () => Promise.resolve(publicKey) }),
    areForTools: () => false,
    onKeysFetched: () => undefined,
    onReconfigured: () => undefined,
  } as unknown as JwtIssuers;
  const revisions = { isFresh: () => true, denials: '1' } as unknown as CredentialRevisions;
  const denials = { isAnyDenied: () => Promise.resolve(false) } as unknown as Denials;
  const directory = new CallerDirectory(
    {} as unknown as TokenDirectory,
    new JwtDirectory(issuers, denials, revisions, new SecretBox(Buffer.alloc(32))),
  );
  const tokens = await Promise.all(
    Array.from({ length: TOKENS }, (_, n) =>
      new SignJWT({ groups: GROUPS })
        .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'JWT' })
        .setIssuer(ISSUER)
        .setAudience('agent-gateway')
        .setSubject(`user-${n}`)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
    ),
  );
  const first = await cpuMs(TOKENS, async (n) => {
    if ((await directory.find(tokens[n])) === undefined) throw new Error('A good token is refused.');
  });
  const slots: number[] = [];
  for (let round = 0; round < TIMING.rounds; round += 1)
    slots.push(
      await cpuMs(TAKES, (n) => {
        const caller = directory.find(tokens[n % TOKENS]);
        if (caller === undefined || caller instanceof Promise) throw new Error('A known token is not known.');
      }),
    );
  const seen = median(slots);
  const bytes = tokens[0]?.length ?? 0;
  return [
    atMost(
      {
        path: 'JWT that was seen before, CPU added to a request',
        measured: `${TAKES.toLocaleString('en')} look-ups, ${TOKENS} tokens of ${bytes} bytes in turn`,
        baseline: '',
      },
      seen,
      0.05,
      'ms',
    ),
    informs(
      {
        path: 'JWT that comes for the first time (RS256)',
        measured: `${TOKENS} tokens, CPU ${short(first)} ms each`,
        baseline: `seen before: ${short(seen)} ms`,
      },
      `${Math.round(first / seen)} ×`,
    ),
  ];
}

/** CPU of this process per call, in milliseconds. */
async function cpuMs(times: number, work: (n: number) => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < times; n += 1) {
    const worked = work(n);
    if (worked instanceof Promise) await worked;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}
