import { codeOf, EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';

test('every error names the way around it, once', () => {
  const error = EmbeddedPostgresError.from(new Error('the disk is full'));
  expect(error.message).toBe(
    'Embedded PostgreSQL: the disk is full. Or set DATABASE_URL to a PostgreSQL 14 or later.',
  );
  expect(EmbeddedPostgresError.from(error)).toBe(error);
  expect(messageOf(error)).toBe('the disk is full.');
});

test('a thrown value that is not an error has no code, and is shown as it is', () => {
  expect([codeOf('ENOENT'), codeOf(null), codeOf(new Error('no')), codeOf({ code: 7 })]).toEqual([
    ...[undefined, undefined, undefined, undefined],
  ]);
  expect(EmbeddedPostgresError.from('no room').problem).toBe('no room.');
});
