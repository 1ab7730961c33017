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

test('who clicks in the workspace of the bot goes by the id that their messages have', () => {
  expect(clickOf(sent({ id: 'U7', name: 'ada' }), BOT)?.sender).toEqual({ id: 'U7', displayName: 'ada' });
});

test('who clicks from another goes by both ids, and their messages are known by the one of the person', () => {
  const sender = { id: 'T2/U7', writesAs: 'U7', displayName: '' };
  expect(clickOf(sent({ id: 'U7', team_id: 'T2' }), BOT)?.sender).toEqual(sender);
  expect(clickOf(sent({ id: 'U7' }, 'T2'), BOT)?.sender).toEqual(sender);
});
