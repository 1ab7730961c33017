import { admissionOf } from './admission.js';

const ada = { sender: { id: '7', aliases: ['@ada'], displayName: 'Ada' }, isGroup: false, isAddressed: true };
const everybody = { allowed_users: ['*'], mention_only: false };

test('an empty list admits no one, an asterisk everyone', () => {
  expect(admissionOf(ada, { allowed_users: [], mention_only: false })).toBe('not_allowed');
  expect(admissionOf(ada, everybody)).toBe('admitted');
});

test('a user is admitted by exact id or by alias, and by nothing similar', () => {
  const by = (...allowed: string[]) => admissionOf(ada, { allowed_users: allowed, mention_only: false });
  expect(by('7')).toBe('admitted');
  expect(by('@grace', '@ada')).toBe('admitted');
  expect(by('@Ada')).toBe('admitted');
  expect(by('77', '@adam', 'Ada', 'ada', ' 7')).toBe('not_allowed');
});

test('mention_only requires an address in groups; in private every message is one', () => {
  const rules = { ...everybody, mention_only: true };
  expect(admissionOf({ ...ada, isGroup: true, isAddressed: false }, rules)).toBe('not_addressed');
  expect(admissionOf({ ...ada, isGroup: true }, rules)).toBe('admitted');
  expect(admissionOf({ ...ada, isAddressed: false }, rules)).toBe('admitted');
  expect(admissionOf({ ...ada, isGroup: true, isAddressed: false }, everybody)).toBe('admitted');
});
