import { admissionOf } from './admission.js';

const ada = { sender: { id: '7', aliases: ['@ada'], displayName: 'Ada' }, isGroup: false, isAddressed: true };
const everybody = { allowed_users: ['*'], mention_only: false };

test('an empty list lets nobody in, an asterisk everybody', () => {
  expect(admissionOf(ada, { allowed_users: [], mention_only: false })).toBe('stranger');
  expect(admissionOf(ada, everybody)).toBe('admitted');
});

test('a user is let in by id or by another name, and by nothing that only looks like it', () => {
  const by = (...allowed: string[]) => admissionOf(ada, { allowed_users: allowed, mention_only: false });
  expect(by('7')).toBe('admitted');
  expect(by('@grace', '@ada')).toBe('admitted');
  expect(by('@Ada')).toBe('admitted');
  expect(by('77', '@adam', 'Ada', 'ada', ' 7')).toBe('stranger');
});

test('in groups the bot may insist on being spoken to; in private it is', () => {
  const rules = { ...everybody, mention_only: true };
  expect(admissionOf({ ...ada, isGroup: true, isAddressed: false }, rules)).toBe('not_addressed');
  expect(admissionOf({ ...ada, isGroup: true }, rules)).toBe('admitted');
  expect(admissionOf({ ...ada, isAddressed: false }, rules)).toBe('admitted');
  expect(admissionOf({ ...ada, isGroup: true, isAddressed: false }, everybody)).toBe('admitted');
});
