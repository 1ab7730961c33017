import { Redactor } from '../../../platform/logging/redactor.js';
import { REDACTED } from '../../../platform/logging/secret-finder.js';
import { ProofKeys } from '../dpop/proof-keys.js';
import { AuthorizationServers } from './authorization-servers.js';

const ISSUER = 'https://login.test';

/** Refuses every request for a token, and repeats it. */
const outbound = {
  read: ({ url, body }: { url: string; body?: string }) => {
    const found = { issuer: ISSUER, token_endpoint: `${ISSUER}/token` };
    const refusal = { error: 'invalid_grant', error_description: new URLSearchParams(body).toString() };
    const isToken = url.endsWith('/token');
    const text = JSON.stringify(isToken ? refusal : found);
    return Promise.resolve({ status: isToken ? 400 : 200, headers: {}, body: Buffer.from(text) });
  },
} as unknown as ConstructorParameters<typeof AuthorizationServers>[0];

test.each(['subject_token', 'actor_token', 'assertion', 'client_assertion'])(
  'of a %s that the issuer repeats the reason has nothing, though it is cut, and later texts neither',
  async (field) => {
    const redactor = new Redactor();
    const secret = `a secret & long ${'of many parts '.repeat(30)}`;
    const servers = new AuthorizationServers(outbound, redactor, new ProofKeys());
    const form = { [field]: secret, scope: 'tools' };
    const asked = servers.answerTo({ issuer: ISSUER, client: { id: 'me' }, form, refusal: 'said no' });
    await expect(asked).rejects.toThrow(
      `${ISSUER} said no (400): invalid_grant: ${field}=${REDACTED}&scope=tools&client_id=me`,
    );
    expect(redactor.redact(`it was ${secret}`)).toBe(`it was ${REDACTED}`);
  },
);
