import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  type Judgement,
  type JudgingModel,
  type SentRequest,
  startJudgingModel,
} from '../harness/judging-model.js';
import { newSession } from '../harness/turn-stream.js';

const ROUNDS = 9;
const CONTEXT_TOKENS = 20_000;
/** Its provider refuses what the model cannot read. */
const MOST_CHARACTERS = CONTEXT_TOKENS * 4;
const PICTURE = Buffer.from('a picture of 40 bytes, more or less so.').toString('base64');

/** Reads one page after the other, and answers how many it was told to read. */
function readAll({ messages, body }: SentRequest): Judgement {
  if (JSON.stringify(body).length > MOST_CHARACTERS) return { status: 400 };
  const question = messages.findLastIndex(({ role, text }) => role === 'user' && text.includes('?'));
  const read = messages.slice(question).flatMap(({ results }) => results).length;
  const [, wanted = '0', width = '1'] =
    /(\d+) pages, (\d+) at once/.exec(messages[question]?.text ?? '') ?? [];
  if (read >= Number(wanted)) return { text: `I have read ${read}.` };
  const calls = Array.from({ length: Number(width) }, (_, index) => ({
    ...{ id: `call_${index}`, name: 'read_page' },
    arguments: { page: read + index },
  }));
  return { calls };
}

describe.each(['openai', 'anthropic'] as const)('a turn whose tools return much (%s)', (wire) => {
  let model: JudgingModel;
  let gateway: TestGateway;

  beforeAll(async () => {
    model = await startJudgingModel(wire, readAll);
    gateway = await startTestGateway({
      env: {
        ...model.env,
        GATEWAY__AGENT__CONTEXT_TOKENS: String(CONTEXT_TOKENS),
        GATEWAY__AGENT__MAX_TOOL_CALLS_PER_TURN: '100',
        GATEWAY__AGENT__CONTEXT_MEDIA_BYTES: '100',
      },
    });
    gateway.tools.register({
      name: 'read_page',
      description: 'Reads a page.',
      inputSchema: { type: 'object', properties: { page: { type: 'integer' } } },
      run: ({ page }) => Promise.resolve(`page ${String(page)}: ${'and so on '.repeat(1500)}`),
    });
  });
  beforeEach(() => {
    model.requests.length = 0;
  });
  afterAll(async () => {
    await gateway.stop();
    await model.provider.stop();
  });

  const say = async (id: string, content: string, more: object = {}) =>
    gateway.b.post<{ content: string }>(`/sessions/${id}/messages`, { content, ...more });

  test('goes on with the newest of it, and the next turn begins with the same bytes', async () => {
    const id = await newSession(gateway);
    const answer = await say(id, `Will you read ${ROUNDS} pages, 1 at once?`);
    expect([answer.status, answer.body.content]).toEqual([200, `I have read ${ROUNDS}.`]);
    const last = model.requests.at(-1)!.messages;
    const shown = last.flatMap(({ results }) => results.map(({ content }) => content.slice(0, 6)));
    expect(shown).toHaveLength(ROUNDS);
    expect(shown.at(-1)).toBe(`page ${ROUNDS - 1}`);
    expect(shown.filter((text) => text !== '[This ').length).toBeLessThan(ROUNDS);
    // Blocks are removed one at a time.
    const whole = model.requests.map(
      ({ messages }) =>
        messages.flatMap(({ results }) => results).filter(({ content }) => content.startsWith('page')).length,
    );
    const cuts = whole.filter((count, index) => count < (whole[index - 1] ?? 0));
    expect(cuts.length).toBeGreaterThan(0);
    expect(cuts.length).toBeLessThanOrEqual(3);
    expect((await say(id, 'Thank you?')).status).toBe(200);
    expect(model.requests.at(-1)!.messages.slice(0, last.length)).toEqual(last);
  });

  test('reads a part of each, when one round returns more than fits', async () => {
    const id = await newSession(gateway);
    const answer = await say(id, 'Will you read 8 pages, 8 at once?');
    expect([answer.status, answer.body.content]).toEqual([200, 'I have read 8.']);
    const results = model.requests.at(-1)!.messages.flatMap((message) => message.results);
    expect(results).toHaveLength(8);
    for (const { content } of results)
      expect(content).toMatch(/^page \d.*\[cut, because the conversation is long/s);
    expect((await say(id, 'Thank you?')).status).toBe(200);
  });

  test('of many pictures the oldest are notes, and those of the last message are always sent', async () => {
    const id = await newSession(gateway);
    const picture = { type: 'image', mime_type: 'image/png', data: PICTURE };
    const media: number[] = [];
    for (let count = 1; count <= 6; count += 1) {
      expect((await say(id, `Do you see ${count}?`, { attachments: [picture] })).status).toBe(200);
      media.push(model.requests.at(-1)!.messages.flatMap((message) => message.media).length);
    }
    expect(media).toEqual([1, 2, 1, 2, 1, 2]);
    expect(JSON.stringify(model.requests.at(-1)!.body)).toContain(
      'is left out, because this conversation holds many',
    );
  });
});
