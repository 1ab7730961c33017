const BY_CODE = 'signs a person in by code, in a browser; the client signs in by itself';
const REASONS = {
  'auth/dpop': 'binds tokens to a key of the client; the client has none',
  'auth/dpop-nonce': 'binds tokens to a key of the client; the client has none',
  'auth/wif-jwt-bearer': 'signs in with a token of its platform; the client has a secret',
  'auth/enterprise-managed-authorization':
    'signs a person in at their company; the client signs in by itself',
};
const PASSING = new Set([
  'auth/client-credentials-basic',
  'auth/client-credentials-jwt',
  'auth/pre-registration',
  'auth/resource-mismatch',
]);

/** Why a scenario of the suite is not one for this client; undefined for one that it has to pass. */
export function whyNot(scenario) {
  const isByCode = scenario.startsWith('auth/') && !PASSING.has(scenario);
  if (scenario.startsWith('sep-2640-')) return 'skills of tool servers, an extension; the gateway reads none';
  return REASONS[scenario] ?? (isByCode ? BY_CODE : undefined);
}
