import { NotFound, Unavailable } from '../common/errors/gateway-error.js';
import { InvalidSettings } from '../platform/settings/settings-validation.js';
import { failureSentence } from './failure-sentence.js';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });

test('an unreachable database is reported as such, with the settings to check', () => {
  const sentence = failureSentence(refused);
  expect(sentence).toMatch(/^The database cannot be reached \(connect ECONNREFUSED .*check DATABASE_URL/);
  expect(failureSentence(new Unavailable('Not now.', { cause: refused }))).toBe(sentence);
  // A host name with two addresses fails with an AggregateError that has no message.
  expect(failureSentence(new AggregateError([refused, refused], ''))).toBe(sentence);
});

test('a refusal by PostgreSQL keeps its message', () => {
  const error = Object.assign(new Error('password authentication failed for user "x"'), {
    code: '28P01',
    severity: 'FATAL',
  });
  expect(failureSentence(error)).toBe(
    'The database refused (28P01): password authentication failed for user "x"',
  );
});

test('any other error gives its own message, invalid settings give every problem', () => {
  expect(failureSentence(new NotFound('There is none.'))).toBe('There is none.');
  expect(failureSentence(new TypeError('x is not a function'))).toBe('x is not a function');
  expect(failureSentence(new Error(''))).toBe('Error');
  expect(failureSentence('text')).toBe('text');
  const problems = ['one', 'two'].map((message) => ({ where: '', key: '', message }));
  expect(failureSentence(new InvalidSettings(problems))).toBe(
    'The configuration has 2 problems:\n  one\n  two',
  );
});
