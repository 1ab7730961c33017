import type { Message, Update } from 'grammy/types';
import { inboundOf } from './telegram-updates.js';

const ME = { id: 99, username: 'agent_bot' };
const ADA = { id: 7, is_bot: false, first_name: 'Ada' };

function update(message: object): Update {
  const whole = { message_id: 1, date: 0, from: ADA, chat: { id: 5, type: 'private' }, text: 'hello' };
  return { update_id: 42, message: { ...whole, ...message } as unknown as Message & Update.NonChannel };
}
const GROUP = { chat: { id: -5, type: 'supergroup', title: 'All' } };

test('a private chat is addressed to the bot, and one conversation', () => {
  expect(inboundOf(update({}), ME)).toEqual({
    externalId: '99:42',
    conversation: '5',
    sender: { id: '7', aliases: [], displayName: 'Ada' },
    isGroup: false,
    isAddressed: true,
    text: 'hello',
    target: { chat: 5 },
  });
});

test('people go by their full name, and may be admitted by their username', () => {
  const from = { ...ADA, last_name: 'Lovelace', username: 'ada' };
  expect(inboundOf(update({ from }), ME)?.sender).toEqual({
    ...{ id: '7', aliases: ['@ada'], displayName: 'Ada Lovelace' },
  });
});

test.each<[string, Update]>([
  ['an edit', { update_id: 1 }],
  ['a channel', update({ from: undefined })],
  ['another bot', update({ from: { ...ADA, is_bot: true } })],
])('%s is no message', (_what, one) => {
  expect(inboundOf(one, ME)).toBeUndefined();
});

test.each<[string, object, boolean, string]>([
  ['talk among people', { text: 'hello all' }, false, 'hello all'],
  ['a mention', { text: 'hello @Agent_Bot' }, true, 'hello'],
  ['the mention of another bot', { text: 'hello @agent_bot2' }, false, 'hello @agent_bot2'],
  ['a mention below a picture', { text: undefined, caption: '@agent_bot what is it?' }, true, 'what is it?'],
  ['a picture alone', { text: undefined }, false, ''],
  ['a reply to the bot', { reply_to_message: { from: { id: 99 } } }, true, 'hello'],
  ['a reply to somebody', { reply_to_message: { from: { id: 8 } } }, false, 'hello'],
])('in a group, %s is understood', (_what, message, isAddressed, text) => {
  expect(inboundOf(update({ ...GROUP, ...message }), ME)).toMatchObject({ isGroup: true, isAddressed, text });
});

test('a topic of a group is a conversation of its own; a reply outside topics is not', () => {
  const topic = inboundOf(update({ ...GROUP, is_topic_message: true, message_thread_id: 3 }), ME);
  expect([topic?.conversation, topic?.target]).toEqual(['-5/3', { chat: -5, thread: 3 }]);
  expect(inboundOf(update({ ...GROUP, message_thread_id: 3 }), ME)?.conversation).toBe('-5');
});
