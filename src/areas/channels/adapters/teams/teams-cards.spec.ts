import { cardText, openCard } from '../../approvals/approval-card.js';
import { NOT_DECIDED } from '../../channel-adapter.port.js';
import { activityOf } from './teams-activity.js';
import { clickAnswer, clickOf, teamsCard } from './teams-cards.js';

const CODE = 'A'.repeat(22);
/** "The message size limit is 28 KB" (Teams, Format your bot messages). */
const TEAMS_LIMIT = 28 * 1024;

test.each([
  ['a line per letter', '1\n'.repeat(2000)],
  ['functions of dates', '{{DATE({{TIME('.repeat(300)],
  ['letters that JSON escapes', '\u0001'.repeat(4000)],
  ['letters of four bytes', '😀'.repeat(2000)],
])('a card stays below the limit of a message with arguments of %s', (_what, text) => {
  const card = JSON.stringify(teamsCard(openCard(cardText('files__write_file', text), CODE)));
  expect(Buffer.byteLength(card)).toBeLessThan(TEAMS_LIMIT - 2048);
});

test('lines are blocks that keep their indentation, and lines past the bound are shown too', () => {
  const text = ['{', '  "a": 1', '}', ...Array.from({ length: 100 }, (_, at) => `line ${at}`)].join('\n');
  const { body } = teamsCard({ title: 'T', details: text, buttons: [] }) as {
    body: { inlines: { text: string }[] }[];
  };
  const lines = body.map(({ inlines }) => inlines.map((run) => run.text).join(''));
  expect(lines.slice(0, 4)).toEqual(['T', '{', '\u00A0\u00A0"a": 1', '}']);
  expect(lines.at(-1)).toContain('line 99');
});

test('while nothing can be decided, the person who clicked is told so', () => {
  expect(clickAnswer(undefined)).toEqual({
    ...{ statusCode: 200, type: 'application/vnd.microsoft.activity.message' },
    value: NOT_DECIDED,
  });
});

test('a click counts in the conversation of the card, whichever thread Teams names', () => {
  const invoke = {
    ...{ type: 'invoke', name: 'adaptiveCard/action', channelId: 'msteams', serviceUrl: 'https://x.example' },
    ...{ from: { id: '29:a' }, conversation: { id: '19:room@thread.tacv2;messageid=1' } },
    value: { action: { verb: 'agw_approval', data: { agw_approval: `allow:${CODE}` } } },
  };
  const activity = activityOf(invoke);
  const click = activity && clickOf(activity);
  expect(click?.data).toBe(`allow:${CODE}`);
  const isFrom = (conversation: string) => click?.isFrom?.({ conversation });
  expect(isFrom('19:room@thread.tacv2;messageid=1')).toBe(true);
  expect(isFrom('19:room@thread.tacv2')).toBe(true);
  expect(isFrom('19:other@thread.tacv2;messageid=1')).toBe(false);
});
