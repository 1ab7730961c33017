import { connectionProblem } from './presence.js';

test.each([
  ['ENOENT', 'absent'],
  ['ECONNREFUSED', 'absent'],
  ['57P03', 'closed'],
  ['57P01', 'passing'],
  ['53300', 'passing'],
  ['ECONNRESET', 'passing'],
  [undefined, 'passing'],
  ['28000', 'lasting'],
  ['3D000', 'lasting'],
])('a connection that fails with %s shows a server that is %s', (code, problem) => {
  expect(connectionProblem(Object.assign(new Error('no'), code === undefined ? {} : { code }))).toBe(problem);
});
