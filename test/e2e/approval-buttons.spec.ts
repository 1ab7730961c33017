import { ApprovalCardStore } from '../../src/areas/channels/approvals/approval-cards.store.js';
import { telegramEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, scripted, serverB } from '../harness/mcp.js';
import { slackEnv, TestSlack } from '../harness/slack.js';
import { TestTeams, teamsEnv } from '../harness/teams.js';
import { cardsOf, clickValue, PEOPLE, readCard } from '../harness/teams-cards.js';
import { TestTelegram } from '../harness/telegram.js';

const SETTINGS = `
[agent]
tool_approval_timeout_ms = 60000
[tools.approval]
ask = ["own__*"]
`;
/** A call that the offline model makes. */
const ERASE = '/call own__erase {"text":"all of <!channel> & *more*"}';

interface Button {
  readonly label: string;
  readonly data: string;
}

/** A card as the platform shows it. */
interface Shown {
  readonly text: string;
  readonly buttons: readonly Button[];
}

/** A conversation of two people: Ada asks, and Grace and Ada are approvers. Mallory is not. */
interface Platform {
  ask(text: string): Promise<void>;
  /** Cards in the order in which they were sent, with edits applied. */
  cards(): readonly Shown[];
  click(data: string, who: 'ada' | 'grace' | 'mallory'): Promise<void>;
  /** Alerts that were shown only to the person who clicked. */
  refusals(): readonly string[];
  idOf(who: 'ada' | 'grace'): string;
  /** The bot's messages there. */
  said(): readonly string[];
}

let bench: McpBench;
let slack: TestSlack;
let telegram: TestTelegram;
let teams: TestTeams;
let gateway: TestGateway;
let other: TestGateway;
const platforms: Record<string, Platform> = {};
beforeAll(async () => {
  [slack, telegram, teams] = await Promise.all([TestSlack.start(), TestTelegram.start(), TestTeams.start()]);
  bench = await McpBench.make({ own: scripted(`buttons-${process.pid}`) }, SETTINGS);
  const [ada, grace] = [await slack.idOf('ada'), await slack.idOf('grace')];
  const direct = await slack.direct();
  platforms['slack'] = onSlack(direct, { ada, grace });
  platforms['telegram'] = onTelegram();
  platforms['teams'] = onTeams();
  const env = {
    ...bench.env,
    ...slackEnv(slack, { approvers: `${ada},${grace}` }),
    ...telegramEnv(telegram, { approvers: '7,8' }),
    ...teamsEnv(teams, { approvers: `${PEOPLE.ada.aadObjectId},${PEOPLE.grace.aadObjectId}` }),
  };
  gateway = await startTestGateway({ env });
  other = await startTestGateway({ env, database: gateway.database });
  for (const name of Object.keys(platforms)) await untilChannel(gateway, name, 'connected');
  await eventually(async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'));
  await eventually(async () => expect((await serverB(other, 'own'))?.status).toBe('connected'));
});
afterAll(async () => {
  await Promise.all([gateway.stop(), other.stop()]);
  await Promise.all([slack.stop(), telegram.stop(), teams.stop(), bench.clear()]);
});

interface Block {
  readonly type: string;
  readonly elements: readonly { readonly text: { readonly text: string }; readonly value: string }[];
}

function onSlack(direct: string, ids: { ada: string; grace: string }): Platform {
  const cards = () => slack.said(direct).filter(({ text }) => text.startsWith('The agent wants'));
  return {
    ask: async (text) => {
      await slack.write(text, { channel: direct });
    },
    cards: () =>
      cards().map(({ text, blocks = '[]' }) => {
        const actions = (JSON.parse(blocks) as Block[]).filter(({ type }) => type === 'actions');
        const buttons = actions.flatMap(({ elements }) =>
          elements.map((button) => ({ label: button.text.text, data: button.value })),
        );
        return { text, buttons };
      }),
    click: (data, who) =>
      slack.click(data, {
        channel: direct,
        user: { id: who === 'mallory' ? 'UMALLORY' : ids[who], name: who },
      }),
    refusals: () => slack.callsOf('chat.postEphemeral').map(({ body }) => String(body['text'])),
    idOf: (who) => ids[who],
    said: () => slack.said(direct).map(({ text }) => text),
  };
}

function onTelegram(): Platform {
  const ids = { ada: 7, grace: 8, mallory: 9 };
  return {
    ask: (text) => telegram.write(text, { chat: 1, user: ids.ada }),
    cards: () => telegram.cards(),
    click: (data, who) => telegram.click(data, { chat: 1, user: ids[who], name: who }),
    refusals: () =>
      telegram
        .callsOf('answerCallbackQuery')
        .filter(({ body }) => body['show_alert'] === true)
        .map(({ body }) => String(body['text'])),
    idOf: (who) => String(ids[who]),
    said: () => telegram.said(1).map(({ text }) => text),
  };
}

const urlOf = ({ started }: TestGateway): string => `http://127.0.0.1:${started.ports.b}`;

/** Clicks go to the two replicas in turn. */
function onTeams(): Platform {
  const refusals: string[] = [];
  let clicks = 0;
  return {
    ask: async (text) => {
      expect(await teams.write(urlOf(gateway), text, { from: PEOPLE.ada })).toBe(200);
    },
    cards: () =>
      cardsOf(teams).map((card) => ({
        text: readCard(card),
        buttons: card.actions.map(({ title, data }) => ({ label: title, data: data.agw_approval })),
      })),
    click: async (data, who) => {
      clicks += 1;
      const replica = clicks % 2 === 0 ? gateway : other;
      const { status, body } = await teams.click(urlOf(replica), clickValue(data), { from: PEOPLE[who] });
      expect([status, body['statusCode']]).toEqual([200, 200]);
      if (body['type'] === 'application/vnd.microsoft.activity.message') refusals.push(String(body['value']));
      else expect(body['type']).toBe('application/vnd.microsoft.card.adaptive');
    },
    refusals: () => refusals,
    idOf: (who) => PEOPLE[who].aadObjectId,
    said: () => teams.said().map(({ text }) => text),
  };
}

/** A message from Ada has made a call that waits, and its card is shown. */
async function asked(platform: Platform): Promise<{ card: () => Shown; allow: string; deny: string }> {
  const before = platform.cards().length;
  await platform.ask(ERASE);
  await eventually(() => expect(platform.cards()).toHaveLength(before + 1), 20_000);
  const card = (): Shown => platform.cards()[before] as Shown;
  const [allow, deny] = card().buttons;
  return { card, allow: allow?.data ?? '', deny: deny?.data ?? '' };
}

interface Decided {
  readonly status: string;
  readonly decided_by: string;
}

async function newestDecision(): Promise<Decided | undefined> {
  const rows = await gateway.database.query<Decided>(
    `SELECT verdict AS status, decided_by FROM tool_approvals ORDER BY decided_at DESC NULLS LAST LIMIT 1`,
  );
  return rows[0];
}

const waiting = () =>
  gateway.database.query(
    `SELECT tool_approvals.id FROM tool_approvals JOIN turns ON turns.id = turn_id
     WHERE verdict IS NULL AND turns.status IN ('running', 'awaiting_approval')`,
  );

describe.each(['slack', 'telegram', 'teams'])('buttons at %s for channels_config.<n>.approvers', (name) => {
  const platform = (): Platform => platforms[name] as Platform;
  afterEach(async () => {
    // The next test must begin without anything that waits.
    await eventually(async () => expect(await waiting()).toEqual([]), 20_000);
  });

  test.each([
    ['allow', 'allowed', 'Allowed by grace.', 'erased'],
    ['deny', 'denied', 'Denied by grace.', 'refused'],
  ] as const)(
    'a click to %s decides, the message shows who decided, and its buttons disappear',
    async (...row) => {
      const [word, status, outcome, told] = row;
      const question = await asked(platform());
      expect(question.card().buttons.map(({ label }) => label)).toEqual(['Allow', 'Deny']);
      expect(question.card().text).toContain('own__erase');
      await platform().click(question[word], 'grace');
      await eventually(() => expect(question.card().text).toContain(outcome), 20_000);
      expect(question.card().buttons).toEqual([]);
      expect(await newestDecision()).toEqual({
        status,
        decided_by: `${name}:${platform().idOf('grace')}`,
      });
      await eventually(() => expect(platform().said().at(-1)).toContain(told), 20_000);
      const audited = await gateway.database.query<{ actor: string }>(
        `SELECT actor FROM audit_entries WHERE action = 'approval.decided' ORDER BY id DESC LIMIT 1`,
      );
      expect(audited).toEqual([{ actor: `${name}:${platform().idOf('grace')}` }]);
    },
  );

  test('the click of somebody who is no approver is refused where they see it, and the call goes on waiting', async () => {
    const question = await asked(platform());
    const before = platform().refusals().length;
    await platform().click(question.allow, 'mallory');
    await eventually(() => expect(platform().refusals()).toHaveLength(before + 1));
    expect(platform().refusals().at(-1)).toContain('not among the approvers');
    expect(await waiting()).toHaveLength(1);
    expect(question.card().buttons).toHaveLength(2);
    await platform().click(question.deny, 'grace');
  });

  test('data that is forged, of another call or of another channel decides nothing', async () => {
    const first = await asked(platform());
    await platform().click(first.deny, 'grace');
    await eventually(async () => expect(await waiting()).toEqual([]), 20_000);
    const second = await asked(platform());
    const foreign = Object.keys(platforms).find((one) => one !== name) as string;
    const [{ id } = { id: '' }] = (await waiting()) as { id: string }[];
    const forged = [
      first.allow, // already decided
      `allow:${id}`,
      `allow:${'A'.repeat(22)}`,
      'allow:',
      second.allow.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      '{"verdict":"allowed"}',
    ];
    const before = platform().refusals().length;
    for (const data of forged) await platform().click(data, 'grace');
    await eventually(() => expect(platform().refusals()).toHaveLength(before + forged.length), 20_000);
    const elsewhere = platforms[foreign] as Platform;
    const there = elsewhere.refusals().length;
    await elsewhere.click(second.allow, 'grace');
    await eventually(() => expect(elsewhere.refusals()).toHaveLength(there + 1), 20_000);
    expect(await waiting()).toHaveLength(1);
    await platform().click(second.deny, 'grace');
  });

  test('many clicks at once, and a decision over HTTP on another replica, decide once', async () => {
    const question = await asked(platform());
    const [{ id } = { id: '' }] = (await waiting()) as { id: string }[];
    const before = platform().refusals().length;
    const clicks = [question.allow, question.deny, question.allow, question.deny];
    const [answer] = await Promise.all([
      other.admin.post(`/approvals/${id}/decision`, { decision: 'deny' }),
      ...clicks.map((data, at) => platform().click(data, at % 2 === 0 ? 'grace' : 'ada')),
    ]);
    await eventually(() => expect(question.card().buttons).toEqual([]), 20_000);
    const isOver = answer.status === 200;
    const late = clicks.length - (isOver ? 0 : 1);
    await eventually(() => expect(platform().refusals()).toHaveLength(before + late), 20_000);
    const decisions = await gateway.database.query(
      `SELECT id FROM audit_entries WHERE action = 'approval.decided'
         AND details->>'call_id' = (SELECT call_id FROM tool_approvals WHERE id = '${id}')
         AND session_id = (SELECT session_id FROM tool_approvals WHERE id = '${id}')`,
    );
    expect(decisions).toHaveLength(1);
  });

  test('"`tools.approval.separate = true`: who asked may not decide", with a button either', async () => {
    await gateway.b.patch('/config', { 'tools.approval.separate': true });
    const question = await asked(platform());
    const before = platform().refusals().length;
    await platform().click(question.allow, 'ada');
    await eventually(() => expect(platform().refusals()).toHaveLength(before + 1), 20_000);
    expect(await waiting()).toHaveLength(1);
    await platform().click(question.allow, 'grace');
    await eventually(() => expect(question.card().text).toContain('Allowed by grace.'), 20_000);
    await gateway.b.patch('/config', { 'tools.approval.separate': null });
  });

  test('who clicked is named also when the decision was shown before their name was noted', async () => {
    const question = await asked(platform());
    const [{ id } = { id: '' }] = (await waiting()) as { id: string }[];
    await other.admin.post(`/approvals/${id}/decision`, { decision: 'deny' });
    await eventually(() => expect(question.card().text).toContain('Denied by token'), 20_000);
    await gateway.started.app.get(ApprovalCardStore, { strict: false }).decidedBy(id, 'grace');
    await eventually(() => expect(question.card().text).toContain('Denied by grace.'), 20_000);
    expect(question.card().buttons).toEqual([]);
  });

  test('a decision elsewhere, and the end of the wait, take the buttons away', async () => {
    const first = await asked(platform());
    const [{ id } = { id: '' }] = (await waiting()) as { id: string }[];
    await other.admin.post(`/approvals/${id}/decision`, { decision: 'deny' });
    await eventually(() => expect(first.card().text).toContain('Denied by token'), 20_000);
    expect(first.card().buttons).toEqual([]);
    const second = await asked(platform());
    await gateway.database.query(`UPDATE tool_approvals SET expires_at = now() WHERE verdict IS NULL`);
    await eventually(() => expect(second.card().text).toContain('Nobody decided'), 20_000);
    expect(second.card().buttons).toEqual([]);
  });
});

test('at Slack, a person of another workspace is not the approver who has the same id', async () => {
  const platform = platforms['slack'] as Platform;
  const question = await asked(platform);
  const before = platform.refusals().length;
  await slack.click(question.allow, {
    channel: await slack.direct(),
    user: { id: platform.idOf('grace'), team_id: 'TELSEWHERE', name: 'grace' },
  });
  await eventually(() => expect(platform.refusals()).toHaveLength(before + 1));
  expect(await waiting()).toHaveLength(1);
  await platform.click(question.deny, 'grace');
  await eventually(async () => expect(await waiting()).toEqual([]), 20_000);
});

describe('at Teams', () => {
  const platform = (): Platform => platforms['teams'] as Platform;
  const newest = () => cardsOf(teams).at(-1);
  afterEach(async () => {
    await eventually(async () => expect(await waiting()).toEqual([]), 20_000);
  });

  test('the arguments are runs of text, in which nothing is markup, a date or a mention', async () => {
    const args = { text: '**bold** [safe](https://evil.example.com) <at>Ada</at> {{DATE(2026-01-01,LONG)}}' };
    const before = cardsOf(teams).length;
    await platform().ask(`/call own__erase ${JSON.stringify(args)}`);
    await eventually(() => expect(cardsOf(teams)).toHaveLength(before + 1), 20_000);
    const card = newest();
    expect(card).toMatchObject({ type: 'AdaptiveCard', version: '1.4' });
    expect(card?.actions.map(({ type }) => type)).toEqual(['Action.Execute', 'Action.Execute']);
    expect(new Set(card?.body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']));
    const read = card?.body.map(({ inlines }) => inlines.map(({ text }) => text).join('')).join('\n') ?? '';
    expect(JSON.parse(read.slice(read.indexOf('{')).replaceAll('\u00A0', ' '))).toEqual(args);
    // Checks each run alone, because clients look for functions within a run.
    const runs = card?.body.flatMap(({ inlines }) => inlines) ?? [];
    expect(runs.filter(({ text }) => /\{\{(DATE|TIME)\(/.test(text))).toEqual([]);
    await platform().click(card?.actions[1]?.data.agw_approval ?? '', 'grace');
  });

  test('a click from another conversation, tenant, sender or token, or with a value of any other kind, decides nothing', async () => {
    const question = await asked(platform());
    const from = PEOPLE.grace;
    const value = clickValue(question.allow);
    const told = async (given: unknown, more: Parameters<TestTeams['click']>[2] = {}) => {
      const { status, body } = await teams.click(urlOf(gateway), given, { from, ...more });
      return status === 200 ? (body['value'] ?? 'nothing') : status;
    };
    const over = 'This call does not wait any more.';
    expect(await told(value, { conversation: 'a:2' })).toBe(over);
    for (const odd of [null, 7, 'allow', [], {}, { action: { verb: 'agw_approval', data: question.allow } }])
      expect(await told(odd)).toBe(over);
    for (const odd of [null, { toString: 1 }, [question.allow], `${question.allow}${'A'.repeat(400_000)}`])
      expect(await told(clickValue(odd))).toBe(over);
    expect(await told(value, { more: { channelData: { tenant: { id: 'another' } } } })).toBe('nothing');
    expect(await told(value, { more: { from: undefined } })).toBe('nothing');
    expect(await told(value, { more: { name: 'task/submit' } })).toBe('nothing');
    expect(await told(value, { claims: { aud: 'someone-else' } })).toBe(401);
    expect(await told(value, { kid: 'other' })).toBe(401);
    // Another person with the approver's name and Teams id.
    const guise = { ...from, aadObjectId: PEOPLE.mallory.aadObjectId };
    expect(await told(value, { from: guise })).toContain('not among the approvers');
    expect(await waiting()).toHaveLength(1);
    expect(question.card().buttons).toHaveLength(2);
    await platform().click(question.deny, 'grace');
  });

  test('the answer to a click is the decided card at once, and a second click is told who was first', async () => {
    const question = await asked(platform());
    const at = { from: PEOPLE.grace };
    const first = await teams.click(urlOf(gateway), clickValue(question.deny), at);
    const again = await teams.click(urlOf(other), clickValue(question.allow), { from: PEOPLE.ada });
    const { type, value } = first.body as { type: string; value: Parameters<typeof readCard>[0] };
    expect(type).toBe('application/vnd.microsoft.card.adaptive');
    expect(readCard(value)).toContain('Denied by grace.');
    expect(value.actions).toEqual([]);
    expect(again.body).toEqual({
      ...{ statusCode: 200, type: 'application/vnd.microsoft.activity.message' },
      value: 'Too late. Denied by grace.',
    });
    await eventually(() => expect(question.card().text).toContain('Denied by grace.'), 20_000);
  });

  test('an edit that Teams does not take at first is made later', async () => {
    const question = await asked(platform());
    teams.next('edit', (response) => response.writeHead(503).end('{}'));
    teams.next('edit', 'its answer is lost');
    await platform().click(question.deny, 'grace');
    await eventually(() => expect(question.card().buttons).toEqual([]), 20_000);
  });
});
