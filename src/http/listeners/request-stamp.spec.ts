import type { ServerResponse } from 'node:http';
import type { GatewayRequest } from '../gateway-request.js';
import { stampRequest } from './request-stamp.js';

/** What a request with these header lines is refused with; undefined when it is not. */
function refusalOf(rawHeaders: readonly string[], httpVersion = '1.1'): string | undefined {
  const request = {
    url: '/api/v1/sessions',
    headers: {},
    rawHeaders,
    httpVersion,
  } as unknown as GatewayRequest;
  stampRequest(request, { setHeader: () => undefined } as unknown as ServerResponse, 'a');
  return request.refusal?.message;
}
const HOST = ['Host', 'agents.test'];
const GOOD = ['Authorization', 'Bearer one'];

test('a request needs one Host; without any only HTTP/1.0', () => {
  expect(refusalOf(HOST)).toBeUndefined();
  expect(refusalOf([], '1.0')).toBeUndefined();
  expect(refusalOf([])).toContain('exactly one Host');
  expect(refusalOf([...HOST, 'hOsT', 'other.test'])).toContain('exactly one Host');
  expect(refusalOf([...HOST, ...HOST], '1.0')).toContain('exactly one Host');
});

test.each([[GOOD], [['authorization', 'Bearer two']], [['AUTHORIZATION', '']]])(
  'of two Authorization headers a proxy may have looked at the other one: with %j it is refused',
  (second) => {
    expect(refusalOf([...HOST, ...GOOD])).toBeUndefined();
    expect(refusalOf([...HOST, ...GOOD, ...second])).toContain('one Authorization header only');
    expect(refusalOf([...second, ...HOST, ...GOOD], '1.0')).toContain('one Authorization header only');
  },
);
