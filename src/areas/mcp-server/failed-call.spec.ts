import {
  InternalError,
  NotFound,
  ProviderFailed,
  Unauthorized,
  Unavailable,
} from '../../common/errors/gateway-error.js';
import { TurnHandedOver } from '../turns/turns.api.js';
import { asHandedOver, CallerGone, failed } from './failed-call.js';

test.each([new Unauthorized('The access token ended.'), new Unavailable('The database cannot be reached.')])(
  'what may pass is no result, because the turn goes on: %s',
  (error) => {
    const passing = asHandedOver(error);
    expect(passing).toBeInstanceOf(TurnHandedOver);
    expect((passing as Error).message).toContain(error.message);
    expect(() => failed(passing)).toThrow(error.message);
  },
);

test.each([
  new NotFound('There is no such session.'),
  new ProviderFailed('The provider failed.'),
  new InternalError('A fault.'),
  new TypeError('no GatewayError'),
  new CallerGone(),
  new TurnHandedOver(),
])('anything else stays what it is: %s', (error) => {
  expect(asHandedOver(error)).toBe(error);
});
