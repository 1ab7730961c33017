import type { AuditLog } from '../../../platform/audit-log/audit-log.js';
import { silentLogs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import type { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { readEnvironment } from '../../../platform/settings/environment.js';
import { FixedSettings } from '../../../platform/settings/settings.js';
import { settingsSchema } from '../../../platform/settings/settings.schema.js';
import { ProofKeys } from '../dpop/proof-keys.js';
import { SignInService } from './sign-in.service.js';
import type { SignInWatch } from './sign-in-watch.service.js';
import { bindingOf, type SignInFlow, type SignIns } from './sign-ins.store.js';

const ISSUER = 'https://login.test';
const secrets = {
  code: 'canary-of-the-code',
  verifier: 'canary-of-the-verifier',
  client: 'canary-of-the-client',
};

test('what an authorization server repeats of a sign-in is in no answer and in no audit', async () => {
  const crm = { transport: 'http', url: 'https://crm.test/mcp', oauth_sign_in: true };
  const settings = new FixedSettings(
    settingsSchema.parse({ gateway: { public_url: 'https://agents.test' }, mcp: { servers: { crm } } }),
  );
  const server = settings.current.mcp.servers['crm'];
  if (server === undefined) throw new Error('The settings have no such server.');
  const flow: SignInFlow = {
    ...{ authorizationServer: ISSUER, redirectUrl: 'https://agents.test/callback', resource: undefined },
    ...{ boundTo: bindingOf(server), codeVerifier: secrets.verifier, scope: undefined, by: 'ada' },
    information: { client_id: 'gateway', client_secret: secrets.client },
    metadata: {
      ...{ issuer: ISSUER, authorization_endpoint: `${ISSUER}/page`, token_endpoint: `${ISSUER}/token` },
      ...{ response_types_supported: ['code'] },
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    },
  };
  let told = '';
  const repeating = (_to: unknown, init?: RequestInit): Promise<Response> => {
    told = new URLSearchParams(init?.body as string | URLSearchParams).toString();
    const said = { error: 'invalid_grant', error_description: Object.values(secrets).join(' ') };
    return Promise.resolve(new Response(JSON.stringify(said), { status: 400 }));
  };
  const audited: unknown[] = [];
  const service = new SignInService(
    { take: () => Promise.resolve({ server: 'crm', flow, changes: 1 }) } as unknown as SignIns,
    settings,
    { fetch: repeating } as unknown as OutboundClient,
    readEnvironment({}),
    new Redactor(),
    new ProofKeys(),
    { record: (entry: unknown) => Promise.resolve(audited.push(entry)) } as unknown as AuditLog,
    {} as SignInWatch,
    silentLogs,
  );
  const refused: unknown = await service
    .finish('crm', { state: 'state', code: secrets.code })
    .catch((error: unknown) => error);
  // It was told all of them, and repeated them.
  for (const secret of Object.values(secrets)) expect(told).toContain(secret);
  expect(String(refused)).toContain('The sign-in to crm failed: ***REDACTED***');
  const shown = String(refused) + JSON.stringify(audited);
  for (const secret of Object.values(secrets)) expect(shown).not.toContain(secret);
});
