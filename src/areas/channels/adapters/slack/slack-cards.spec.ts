import { clickOf } from './slack-cards.js';

const BOT = { team: 'T1', user: 'UBOT' };
const sent = (user: object, team = 'T1') => ({
  type: 'interactive',
  body: {
    ...{ type: 'block_actions', team: { id: team }, channel: { id: 'C1' }, user },
    actions: [{ type: 'button', action_id: 'agw_approval_primary', value: 'allow:x' }],
  },
  ack: () => Promise.resolve(),
});

test("a person who clicks in the bot's own workspace has the id that their messages have", () => {
  expect(clickOf(sent({ id: 'U7', name: 'ada' }), BOT)?.sender).toEqual({ id: 'U7', displayName: 'ada' });
});

test("a person who clicks in another workspace has both ids, and their messages the person's own", () => {
  const sender = { id: 'T2/U7', writesAs: 'U7', displayName: '' };
  expect(clickOf(sent({ id: 'U7', team_id: 'T2' }), BOT)?.sender).toEqual(sender);
  expect(clickOf(sent({ id: 'U7' }, 'T2'), BOT)?.sender).toEqual(sender);
});
