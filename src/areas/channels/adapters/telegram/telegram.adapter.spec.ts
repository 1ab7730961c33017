import type { Message, Update } from 'grammy/types';
import { answeringOutbound, type ScriptedAnswer } from '../../../../../test/harness/outbound-answers.js';
import { OutboundFailed } from '../../../../platform/outbound/outbound.errors.js';
import { Environment } from '../../../../platform/settings/environment.js';
import type { AdapterParts } from '../../channel-adapter.port.js';
import { TelegramAdapter } from './telegram.adapter.js';
import { inboundMessages, inboundOf } from './telegram-messages.js';

const { signal } = new AbortController();
const reply = (target: object) => ({ target: { chat: 5, ...target }, text: 'hello', key: 'k' });
const refusal = (code: number, description: string): ScriptedAnswer => ({
  status: code,
  body: { ok: false, error_code: code, description },
});

function adapter(...answers: ScriptedAnswer[]) {
  const { outbound, calls } = answeringOutbound(...answers);
  const settings = {
    token: '1:t',
    token_env: '',
    api_url: '',
    request_timeout_ms: 1000,
    poll_timeout_secs: 1,
  };
  const parts = { name: 'tg', environment: new Environment({}), outbound, settings };
  const bodies = () => calls.map(({ body }) => JSON.parse(String(body)) as unknown);
  return { made: new TelegramAdapter(parts as unknown as AdapterParts), bodies };
}

test('an answer goes to its chat, or to the topic of its question', async () => {
  const { made, bodies } = adapter({ body: { ok: true, result: { message_id: 8 } } });
  expect(await made.send(reply({}), signal)).toBe('8');
  await made.send(reply({ thread: 3 }), signal);
  const plain = { entities: [], link_preview_options: { is_disabled: true } };
  expect(bodies()).toEqual([
    { chat_id: 5, text: 'hello', ...plain },
    { chat_id: 5, text: 'hello', message_thread_id: 3, ...plain },
  ]);
});

test('Markdown is sent as text with entities', async () => {
  const { made, bodies } = adapter({ body: { ok: true, result: { message_id: 8 } } });
  await made.send({ ...reply({}), text: 'so **big**' }, signal);
  expect(bodies()).toMatchObject([{ text: 'so big', entities: [{ type: 'bold', offset: 3, length: 3 }] }]);
});

test('an answer whose formatting Telegram refuses is sent as it was written', async () => {
  const { made, bodies } = adapter(refusal(400, "Bad Request: can't parse entities"), {
    body: { ok: true, result: { message_id: 8 } },
  });
  expect(await made.send({ ...reply({}), text: 'so **big**' }, signal)).toBe('8');
  expect(bodies()[1]).toMatchObject({ text: 'so **big**', entities: [] });
});

test('an edit that changes nothing counts as done', async () => {
  const { made } = adapter(refusal(400, 'Bad Request: message is not modified: exactly the same'));
  await expect(made.edit('8', reply({}), signal)).resolves.toBeUndefined();
});

test.each<[ScriptedAnswer, string]>([
  [refusal(400, 'Bad Request: message to edit not found'), 'rejected'],
  [refusal(401, 'Unauthorized'), 'retry'],
  // An edit may safely be repeated.
  [new OutboundFailed('connection_reset'), 'retry'],
])('an edit that meets %j ends as: %s', async (answer, why) => {
  await expect(adapter(answer).made.edit('8', reply({}), signal)).rejects.toMatchObject({ why });
});

test('a refused token is reported by receive and by check', async () => {
  const refused = { name: 'ChannelRefused' };
  await expect(adapter(refusal(401, 'Unauthorized')).made.check(signal)).rejects.toMatchObject(refused);
  await expect(adapter(refusal(401, 'Unauthorized')).made.typing({ chat: 5 }, signal)).rejects.toMatchObject(
    refused,
  );
});

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

test('people are called by their full name, and may be admitted by their username', () => {
  const from = { ...ADA, last_name: 'Lovelace', username: 'ada' };
  expect(inboundOf(update({ from }), ME)?.sender).toEqual({
    ...{ id: '7', aliases: ['@ada'], displayName: 'Ada Lovelace' },
  });
});

test.each<[string, Update]>([
  ['a vote', { update_id: 1 }],
  ['a channel', update({ from: undefined })],
  ['another bot', update({ from: { ...ADA, is_bot: true } })],
])('%s is not a message', (_what, one) => {
  expect(inboundOf(one, ME)).toBeUndefined();
});

test.each<[string, object, boolean, string]>([
  ['talk among people', { text: 'hello all' }, false, 'hello all'],
  ['a mention', { text: 'hello @Agent_Bot' }, true, 'hello'],
  ['the mention of another bot', { text: 'hello @agent_bot2' }, false, 'hello @agent_bot2'],
  ['a mention below a picture', { text: undefined, caption: '@agent_bot what is it?' }, true, 'what is it?'],
  ['a picture alone', { text: undefined, photo: [{ file_id: 'p', width: 9, height: 9 }] }, false, ''],
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

test('an update of an unknown form is a message that cannot be read, and does not hold up the others', () => {
  const [odd, good] = inboundMessages([update({ text: undefined, poll: {} }), update({})], ME);
  expect(odd).toMatchObject({ conversation: '5', text: '', files: [{ where: null }] });
  expect(good?.text).toBe('hello');
  expect(inboundMessages([update({ text: undefined, poll: {}, chat: 'none' })], ME)).toEqual([]);
});
