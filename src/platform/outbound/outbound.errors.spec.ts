import { OutboundFailed, OutboundRefused, outboundError } from './outbound.errors.js';

const coded = (code: unknown, more: object = {}): Error => Object.assign(new Error('no'), { code, ...more });

test.each<[string, unknown, string]>([
  ['a name that nobody knows', coded('ENOTFOUND'), 'name_not_resolved'],
  ['a connection that breaks', coded('EPIPE'), 'connection_reset'],
  ['a certificate that is not trusted', coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls'],
  ['a certificate of another name', coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls'],
  ['what is not HTTP', coded('HPE_INVALID_CONSTANT'), 'not_http'],
  ['a head without end', coded('UND_ERR_HEADERS_OVERFLOW'), 'too_large'],
  [
    'several addresses, of which none answers',
    { errors: [coded('ECONNREFUSED'), coded('ENETUNREACH')] },
    'connection_refused',
  ],
  ['what fetch wraps', coded(undefined, { cause: coded('ETIMEDOUT') }), 'timeout'],
  ['a code that nobody foresaw', coded('ENETUNREACH'), 'unreachable'],
  ['a code that is none', coded(7), 'unreachable'],
  ['no error at all', 'no', 'unreachable'],
])('%s is named', (_what, error, reason) => {
  expect(outboundError(error)).toMatchObject({ name: 'OutboundFailed', reason, cause: error });
});

test('our own refusal stays one, even when the client has wrapped it', () => {
  const [refused, failed] = [new OutboundRefused('address'), new OutboundFailed('too_large')];
  expect([outboundError(refused), outboundError(failed)]).toEqual([refused, failed]);
  expect(outboundError(new TypeError('fetch failed', { cause: refused }))).toBe(refused);
  expect(failed.cause).toBeUndefined();
});
