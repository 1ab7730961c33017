import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../../test/harness/eventually.js';
import type { LiveTurn } from '../../turns/live-turn.js';
import { NotSent } from '../channel-failures.js';
import { DraftWriter } from './draft-writer.js';
import type { ReplyStore } from './reply.store.js';
import type { SentReply } from './reply-sender.js';

const SENTENCE = 'This is an answer that is long enough to be shown.';

interface Scene {
  readonly holds?: boolean;
  readonly draft?: boolean;
  readonly externalId?: string;
  readonly typingFails?: boolean;
  readonly cannotEdit?: boolean;
}

/** A draft that is updated every five milliseconds while `say` makes the answer longer. */
function write({ holds = true, draft = true, ...scene }: Scene = {}) {
  let said = '';
  const told: string[] = [];
  const tell = <T>(what: string, value: T): Promise<T> => {
    told.push(what);
    return Promise.resolve(value);
  };
  const store = {
    draft: () => tell('draft', draft),
    drafted: (_message: unknown, id: string) => tell(`drafted ${id}`, undefined),
    holds: () => Promise.resolve(holds),
  } as unknown as ReplyStore;
  const adapter = {
    maxReplyLength: 100,
    send: ({ text }: { text: string }) =>
      tell(`send ${text}`, 'externalId' in scene ? scene.externalId : 'e1'),
    typing: () => {
      told.push('typing');
      return scene.typingFails === true ? Promise.reject(new NotSent('rejected', 'no')) : Promise.resolve();
    },
    ...(scene.cannotEdit === true
      ? {}
      : { edit: (id: string, { text }: { text: string }) => tell(`edit ${id} ${text}`, undefined) }),
  };
  const reply = { adapter, claim: {}, message: { messageId: 'm', target: {} } } as unknown as SentReply;
  const writer = new DraftWriter(reply, store, { text: () => said } as unknown as LiveTurn, 5);
  return {
    told,
    say: (text: string) => (said = text),
    /** Without the typing indicators. */
    shown: () => told.filter((what) => what !== 'typing'),
    end: () => writer.end(),
  };
}

test("a draft that is long enough is shown, and edited as it grows up to the platform's limit", async () => {
  const { say, shown, end } = write();
  say('Too short');
  await sleep(20);
  expect(shown()).toEqual([]);
  say(SENTENCE);
  await eventually(() => expect(shown()).toEqual(['draft', `send ${SENTENCE} …`, 'drafted e1']));
  say(`${'x'.repeat(89)}😀 and more`);
  await eventually(() => expect(shown().slice(3)).toEqual([`edit e1 ${'x'.repeat(89)} …`]));
  await end();
});

test.each<[string, Scene, string[]]>([
  ['there is a draft already', { draft: false }, ['draft']],
  ['the platform gives it no id', { externalId: undefined as never }, ['draft', 'send']],
  ['the platform cannot edit', { cannotEdit: true }, []],
])('no draft is edited when %s', async (_what, scene, expected) => {
  const { say, shown, end } = write(scene);
  say(SENTENCE);
  await sleep(30);
  say(`${SENTENCE} And more.`);
  await sleep(30);
  await end();
  expect(shown().map((what) => what.split(' ')[0])).toEqual(expected);
});

test('a replica that lost the conversation edits nothing', async () => {
  const { say, shown, end } = write({ holds: false });
  say(SENTENCE);
  await eventually(() => expect(shown()).toHaveLength(3));
  say(`${SENTENCE} And more.`);
  await sleep(30);
  await end();
  expect(shown()).toHaveLength(3);
});

test('a refused typing indicator is not tried again, and the draft is shown', async () => {
  const { say, told, shown, end } = write({ typingFails: true });
  say(SENTENCE);
  await eventually(() => expect(shown()).toHaveLength(3));
  await end();
  expect(told.filter((what) => what === 'typing')).toHaveLength(1);
});
