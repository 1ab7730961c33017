import { redactionMarker } from '../../platform/settings/redaction.js';
import { FileOnlySettings, SecuritySettings } from './config.errors.js';
import { shownContent } from './config-change.js';

test('what an edit holds is shown as it is, a sealed secret as the marker, and nothing as null', () => {
  expect(shownContent({ value: 30 })).toBe(30);
  expect(shownContent({ sealed: 'v1.abc' })).toBe(redactionMarker);
  expect(shownContent(null)).toBeNull();
});

test.each([
  [FileOnlySettings, 'file_only_settings', 'only the file and the environment may set it'],
  [SecuritySettings, 'security_settings', 'a change needs the scope "security:write"'],
])('%p names the first five keys, its reason, and every key with why', (Refused, reason, why) => {
  const keys = ['a.a', 'a.b', 'a.c', 'a.d', 'a.e', 'a.f'];
  const { message, details } = new Refused(keys);
  expect(message).toContain(`a.a, a.b, a.c, a.d, a.e: ${why}`);
  const fields = keys.map((path) => ({ path, message: expect.stringContaining(why) as string }));
  expect(details).toEqual({ reason, fields });
});
