import { deliveryBody, deliveryHeaders } from './delivery-request.js';

const delivery = {
  eventId: 'evt_1',
  event: 'session.created',
  occurredAt: new Date('2026-01-02T03:04:05.678Z'),
  sequence: 7,
};

test('the body has the five fields in their order, and the payload byte for byte as it was stored', () => {
  const body = deliveryBody(delivery, '{"b" : 1.50,"a":"\\u00e9"}');
  expect(body).toBe(
    '{"id":"evt_1","event":"session.created","timestamp":"2026-01-02T03:04:05.678Z","sequence":7,"data":{"b" : 1.50,"a":"\\u00e9"}}',
  );
});

test('the signature is that of the specification of Standard Webhooks', () => {
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const headers = deliveryHeaders(
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    '{"test": 2432232314}',
    [key],
    1_614_265_330,
  );
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  expect(headers['webhook-timestamp']).toBe('1614265330');
});

test('one signature a key, newest first, and none without a key', () => {
  const [one, two] = [Buffer.from('one'), Buffer.from('two')];
  const both = deliveryHeaders('id', 'body', [one, two], 1)['webhook-signature'];
  const alone = [one, two].map((key) => deliveryHeaders('id', 'body', [key], 1)['webhook-signature']);
  expect(both).toBe(alone.join(' '));
  expect(deliveryHeaders('id', 'body', [], 1)).not.toHaveProperty('webhook-signature');
});
