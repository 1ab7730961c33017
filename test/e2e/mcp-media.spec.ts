import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  type Judgement,
  type JudgingModel,
  type SentRequest,
  startJudgingModel,
} from '../harness/judging-model.js';
import { McpBench, published, serverB, type ToolCallView } from '../harness/mcp.js';

/** A picture of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4\nheliotrope').toString('base64');
const FORECAST = { temperature: 33, conditions: 'Cloudy', humidity: 82 };

describe.each(['openai', 'anthropic'] as const)('what a tool server returns beside text (%s)', (wire) => {
  let bench: McpBench;
  let model: JudgingModel;
  let gateway: TestGateway;
  let folder: string;
  /** Like a model that accepts no pictures, or any model for a picture that it cannot read. */
  let refusesMedia = false;

  /** Calls the tool that it was told to, then answers. */
  function judge({ messages }: SentRequest): Judgement {
    if (refusesMedia && messages.some(({ media }) => media.length > 0)) return { status: 400 };
    const question = messages.findLast(({ text }) => /^(call|and then)/.test(text))?.text ?? '';
    const { text = '', results = [], media = [] } = messages.at(-1) ?? {};
    if (results.length > 0 || media.length > 0 || !text.startsWith('call')) return { text: 'Seen.' };
    const [, name = '', args = '{}'] = /^call (\S+) (.+)$/.exec(question)!;
    return { calls: [{ id: 'call_1', name, arguments: JSON.parse(args) as Record<string, unknown> }] };
  }

  beforeAll(async () => {
    bench = await McpBench.make({});
    folder = join(bench.folder, 'files');
    await mkdir(folder);
    await writeFile(join(folder, 'dot.png'), PNG, 'base64');
    await writeFile(join(folder, 'page.pdf'), PDF, 'base64');
    await writeFile(join(folder, 'wrong.png'), 'no picture');
    await bench.write({
      files: published('filesystem', [folder]),
      everything: published('everything', ['stdio']),
    });
    model = await startJudgingModel(wire, judge);
    gateway = await startTestGateway({ env: { ...bench.env, ...model.env } });
    for (const name of ['files', 'everything'])
      await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 20_000);
  });
  beforeEach(() => {
    refusesMedia = false;
    model.requests.length = 0;
  });
  afterAll(async () => {
    await gateway.stop();
    await model.provider.stop();
    await bench.clear();
  });

  /**
   * Two messages in one session.
   * @returns the call, the request that gave its result to the model, and that of the next turn
   */
  async function turns(tool: string, args: object) {
    const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
    const path = `/sessions/${body.id}/messages`;
    const first = await gateway.b.post<{ tool_calls: ToolCallView[] }>(path, {
      content: `call ${tool} ${JSON.stringify(args)}`,
    });
    const next = await gateway.b.post(path, { content: 'and then?' });
    expect([first.status, next.status]).toEqual([200, 200]);
    const bodies = model.requests.slice(1).map((request) => JSON.stringify(request.body));
    expect(bodies).toHaveLength(2);
    const { text } = await gateway.b.get(path);
    return { call: first.body.tool_calls[0]!, bodies, history: text };
  }
  const read = (file: string) => turns('files__read_media_file', { path: join(folder, file) });

  test('the very bytes of a picture reach the model, also in the next turn, and the history names it', async () => {
    const { call, bodies, history } = await read('dot.png');
    const shown =
      wire === 'openai'
        ? { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }
        : { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } };
    for (const body of bodies) {
      expect(body).toContain(JSON.stringify(shown));
      expect(body.split(PNG)).toHaveLength(2);
    }
    const size = Buffer.from(PNG, 'base64').length;
    expect(call).toMatchObject({ status: 'success', output: `[image image/png, ${size} bytes]` });
    expect(history).toContain(call.output);
    expect(history).not.toContain(PNG);
  });

  test('so do those of a PDF, whose server does not know its type', async () => {
    const { call, bodies } = await read('page.pdf');
    for (const body of bodies) expect(body.split(PDF)).toHaveLength(2);
    expect(call.output).toMatch(/^\[resource file:.*page\.pdf, application\/octet-stream, 19 bytes\]$/);
  });

  test('what is no picture is said in words, and the conversation goes on', async () => {
    const { call, bodies } = await read('wrong.png');
    expect(call.output).toBe(
      '[image image/png, 10 bytes: not shown, because models cannot be shown such bytes]',
    );
    for (const body of bodies) expect(body).toContain(call.output);
    expect(model.requests.flatMap(({ messages }) => messages.flatMap(({ media }) => media))).toEqual([]);
  });

  test('what the provider refuses is left out with a note, so that the conversation goes on', async () => {
    refusesMedia = true;
    const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
    const path = `/sessions/${body.id}/messages`;
    const args = JSON.stringify({ path: join(folder, 'dot.png') });
    const first = await gateway.b.post(path, { content: `call files__read_media_file ${args}` });
    const next = await gateway.b.post(path, { content: 'and then?' });
    expect([first.status, next.status]).toEqual([200, 200]);
    const refused = model.requests.filter(({ messages }) => messages.some(({ media }) => media.length > 0));
    expect(refused).toHaveLength(2);
    const note =
      '[attachment picture (image/png) is left out, because the provider of this model rejected the request with it]';
    expect(JSON.stringify(model.requests.at(-1)!.body)).toContain(note);
    expect(gateway.logLines.join('')).toContain('a model is asked again without pictures and files');
  });

  test('a picture in a message that the provider refuses ends no conversation either', async () => {
    refusesMedia = true;
    const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
    const path = `/sessions/${body.id}/messages`;
    const attachments = [
      { type: 'image', mime_type: 'image/png', data: Buffer.from('<html>').toString('base64') },
      {
        type: 'file',
        name: 'a.txt',
        mime_type: 'text/plain',
        data: Buffer.from('aubergine').toString('base64'),
      },
    ];
    const answers = [
      await gateway.b.post(path, { content: 'and then?', attachments }),
      await gateway.b.post(path, { content: 'and then?' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(JSON.stringify(model.requests.at(-1)!.body)).toContain('aubergine');
  });

  test('structured content that the text says already is given once', async () => {
    const { call } = await turns('everything__get-structured-content', { location: 'New York' });
    expect(JSON.parse(call.output)).toEqual(FORECAST);
  });
});
