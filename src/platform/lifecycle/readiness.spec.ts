import { Readiness } from './readiness.js';

test('a gateway is ready once it has started, and never again once it drains', () => {
  const readiness = new Readiness();
  expect([readiness.isReady, readiness.hasStarted]).toEqual([false, false]);
  readiness.ready();
  expect([readiness.isReady, readiness.hasStarted, readiness.isDraining]).toEqual([true, true, false]);
  readiness.drain();
  readiness.ready();
  expect([readiness.isReady, readiness.hasStarted, readiness.isDraining]).toEqual([false, true, true]);
});
