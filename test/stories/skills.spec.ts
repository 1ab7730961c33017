import { watch } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, say } from '../harness/mcp.js';
import { judgeWithReference, SkillBench, skillNames, skillsB } from '../harness/skills.js';

interface SentRequest {
  readonly messages: { readonly role: string; readonly content: unknown }[];
  readonly tools?: { readonly function: { readonly name: string } }[];
}

const REPORT = `name: weekly-report
description: Writes the report of the week & more.
metadata:
  triggers: weekly report, 周报`;

let bench: SkillBench;
let model: LLMock;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await SkillBench.make();
  await bench.add('weekly-report', 'WEEKLY-BODY: three lines, the numbers first.', REPORT);
  await bench.write('weekly-report/references/numbers.md', 'NUMBERS: 42.');
  model = new LLMock({ port: 0 });
  await model.start();
  model.addFixture({
    match: { predicate: ({ messages }) => messages.at(-1)?.role === 'tool' },
    response: { content: 'I have read it.' },
  });
  model.addFixture({
    match: { predicate: ({ messages }) => JSON.stringify(messages.at(-1)?.content).includes('look it up') },
    response: { toolCalls: [{ name: 'skill_read', arguments: '{"name":"weekly-report"}' }] },
  });
  model.addFixture({ match: { predicate: () => true }, response: { content: 'Well.' } });
  await writeFile(
    join(bench.folder, 'gateway.toml'),
    `[provider]\nkind = "openai"\nmodel = "m"\napi_key = "key-1234"\nbase_url = "${model.url}/v1"\n` +
      `[tools.channels.api]\ndeny = []\n[tools.tokens.strict]\ndeny = ["skill_*"]\n`,
  );
  gateway = await startTestGateway({
    env: { ...bench.env, GATEWAY_CONFIG: join(bench.folder, 'gateway.toml') },
  });
});
afterAll(async () => {
  await gateway.stop();
  await model.stop();
  await bench.clear();
});

/**
 * What the model was sent for one message: its instructions, including those after the message, and the offered
 * tools.
 */
async function sentFor(content: string, token = gateway.token) {
  const caller = gateway.caller('a', token);
  const { body } = await caller.post<{ session_id: string }>('/sessions', {});
  const before = model.getRequests().length;
  const { status } = await caller.post(`/sessions/${body.session_id}/messages`, { content });
  expect(status).toBe(200);
  const sent = model.getRequests()[before]?.body as unknown as SentRequest;
  const system = sent.messages
    .filter(({ role }, index) => role === 'system' || index === sent.messages.length - 1)
    .map(({ content: text }) => String(text).replace(content, '').trim());
  return { system: system.join('\n').trim(), tools: (sent.tools ?? []).map((tool) => tool.function.name) };
}

describe('what a model gets', () => {
  test('the catalogue, escaped, and not a body', async () => {
    const { system, tools } = await sentFor('Hello');
    expect(system).toContain(
      '<skill><name>weekly-report</name><description>Writes the report of the week &amp; more.</description></skill>',
    );
    expect(system).toContain('<name>incident-summary</name>');
    expect(system).toContain('You are a helpful assistant.');
    expect(system).not.toContain('WEEKLY-BODY');
    expect(tools).toContain('skill_read');
  });

  test.each([
    ['Please write the weekly report.', true],
    ['帮我写本周的周报', true],
    ['/weekly-report for May', true],
    ['a biweekly reporting', false],
  ])('%j brings in the body: %s', async (content, isThere) => {
    const { system } = await sentFor(content);
    expect(system.includes('<skill name="weekly-report">\nWEEKLY-BODY')).toBe(isThere);
  });

  test.each(['Hello', 'the weekly report', '/weekly-report for May'])(
    'a caller who may not call skill_read gets no skill, neither in the catalogue nor by %j',
    async (content) => {
      const { system, tools } = await sentFor(content, await gateway.mint({ name: 'strict' }));
      expect(tools).not.toContain('skill_read');
      expect(system).toBe('You are a helpful assistant.');
    },
  );
});

describe('skill_read', () => {
  test('called by the model returns the body and the names of the other files', async () => {
    const { content, tool_calls: calls } = await say(gateway, 'please look it up');
    expect(content).toBe('I have read it.');
    expect(calls).toEqual([
      expect.objectContaining({
        name: 'skill_read',
        status: 'success',
        output:
          '<skill name="weekly-report">\n<files>\nreferences/numbers.md\n</files>\n' +
          'WEEKLY-BODY: three lines, the numbers first.\n</skill>',
      }),
    ]);
  });
});

describe('skill_read with the offline model', () => {
  beforeAll(async () => {
    await writeFile(join(bench.folder, 'secret.txt'), 'SECRET');
    await bench.link('weekly-report/leak.md', '../../secret.txt');
    await bench.link('weekly-report/inner.md', 'references/numbers.md');
    await bench.write('weekly-report/picture.png', Buffer.from([0x89, 0x50, 0xff, 0x00]));
    await bench.write('weekly-report/.env', 'SECRET');
    await bench.write('weekly-report/large.md', 'x'.repeat(65_537));
    await gateway.b.patch('/config', { 'provider.kind': 'offline' });
  });
  afterAll(() => gateway.b.patch('/config', { 'provider.kind': 'openai' }));

  test.each([
    ['references/numbers.md', 'success', 'NUMBERS: 42.'],
    ['./references/../references/numbers.md', 'success', 'NUMBERS: 42.'],
    ['inner.md', 'success', 'NUMBERS: 42.'],
    ['leak.md', 'error', 'leads out of its folder'],
    ['../../secret.txt', 'error', 'leads out of its folder'],
    ['/etc/passwd', 'error', 'leads out of its folder'],
    ['references', 'error', 'is not a file'],
    ['nothing.md', 'error', 'there is no file'],
    ['.env', 'error', 'Hidden files are not read'],
    ['picture.png', 'error', 'not text'],
    ['large.md', 'error', 'more than 65536 bytes'],
  ])('of the file %s is %s: %s', async (file, status, text) => {
    const call = await callTool(gateway, 'skill_read', { name: 'weekly-report', file });
    expect([call.status, call.output]).toEqual([status, expect.stringContaining(text)]);
    expect(call.output).not.toContain('SECRET');
  });

  test.each([
    [{ name: 'nobody' }, 'There is no skill with that name'],
    [{ name: '../weekly-report' }, 'There is no skill with that name'],
    [{ name: 'weekly-report', path: 'x' }, 'The arguments do not fit'],
    [{}, 'The arguments do not fit'],
  ])('with %j is an error that the model can read', async (args, text) => {
    const call = await callTool(gateway, 'skill_read', args);
    expect([call.status, call.output]).toEqual(['error', expect.stringContaining(text)]);
  });
});

/** False when the system has no file watches left. */
function canWatch(folder: string): boolean {
  try {
    watch(folder).close();
    return true;
  } catch {
    return false;
  }
}

describe('changes on the disk', () => {
  test('a new, a changed and a removed skill are noticed at once', async () => {
    await gateway.b.patch('/config', { 'skills.rescan_secs': canWatch(bench.directory) ? 86_400 : 1 });
    await bench.add('passing', 'FIRST-BODY', 'name: passing\ndescription: Passes.\ntriggers: [passing]');
    await eventually(async () => expect(await skillNames(gateway)).toContain('passing'));
    expect((await sentFor('passing')).system).toContain('FIRST-BODY');
    await bench.add('passing', 'SECOND-BODY', 'name: passing\ndescription: Passes on.\ntriggers: [passing]');
    await eventually(async () => expect((await sentFor('passing')).system).toContain('SECOND-BODY'));
    await bench.remove('passing');
    await eventually(async () => expect(await skillNames(gateway)).not.toContain('passing'));
    expect((await sentFor('passing')).system).not.toContain('SECOND-BODY');
  });

  test('an invalid version is reported, and the previous one stays in use until it is fixed', async () => {
    await bench.add('mended', 'OLD', 'name: mended\ndescription: old');
    await eventually(async () => expect(await skillNames(gateway)).toContain('mended'));
    await bench.add('mended', 'NEW', 'name: mended');
    await eventually(() =>
      expect(gateway.logLines.join('\n')).toContain('no description; the previous version stays in use'),
    );
    expect(await skillNames(gateway)).toContain('mended');
    await bench.add('mended', 'NEW', 'name: mended\ndescription: new');
    await eventually(async () => {
      const mended = (await skillsB(gateway)).find(({ name }) => name === 'mended');
      expect(mended?.description).toBe('new');
    });
    await bench.remove('mended');
  });

  test('a swapped link, as of a ConfigMap, is found at the next rescan', async () => {
    await gateway.b.patch('/config', { 'skills.watch': false, 'skills.rescan_secs': 1 });
    for (const [version, body] of [
      ['..1', 'ONE'],
      ['..2', 'TWO'],
    ] as const) {
      await bench.write(
        `${version}/mounted/SKILL.md`,
        `---\nname: mounted\ndescription: ${body}\n---\n${body}\n`,
      );
    }
    const described = async () =>
      (await skillsB(gateway)).find(({ name }) => name === 'mounted')?.description;
    await bench.link('..data', '..1');
    await bench.link('mounted', '..data/mounted');
    await eventually(async () => expect(await described()).toBe('ONE'));
    await bench.link('..data', '..2');
    await eventually(async () => expect(await described()).toBe('TWO'));
    await gateway.b.patch('/config', { 'skills.watch': true });
  });
});

/** Skills like those that are published for other agents. */
const FOREIGN: Readonly<Record<string, string>> = {
  'pdf-processing': `---
name: pdf-processing
description: Extract text and tables from PDF files, fill forms, merge documents. Use when working with PDF documents or when the user mentions PDFs, forms, or document extraction.
license: Proprietary. LICENSE.txt has complete terms
---

# PDF Processing

For form filling, see [forms.md](forms.md).
`,
  'git-commit-helper': `---
name: git-commit-helper
description: "Generate descriptive commit messages: analyses diffs, follows Conventional Commits."
allowed-tools: Bash(git diff:*) Bash(git log:*) Read
compatibility: Requires git
metadata:
  author: example-org
  version: "1.2"
---
1. Run \`git diff --staged\`.
`,
  'data-analysis': `---
name: data-analysis
description: >
  Analyse spreadsheets and CSV files,
  make charts.
metadata:
  short-description: Data
  triggers: csv, 数据分析
---
Steps --- with dashes.
---
More.
`,
};

describe('folders that were written for other agents', () => {
  test('are valid for the reference library and load unchanged, with the same name and description', async () => {
    await gateway.b.patch('/config', { 'skills.rescan_secs': 1 });
    for (const [name, text] of Object.entries(FOREIGN)) await bench.write(`${name}/SKILL.md`, text);
    const names = Object.keys(FOREIGN);
    await eventually(async () => expect(await skillNames(gateway)).toEqual(expect.arrayContaining(names)));
    const judgements = await judgeWithReference(names.map((name) => join(bench.directory, name)));
    const served = await skillsB(gateway);
    for (const [index, name] of names.entries()) {
      const { problems, properties } = judgements[index] ?? { problems: ['not judged'] };
      expect([name, problems]).toEqual([name, []]);
      expect(served.find((skill) => skill.name === name)?.description).toBe(
        properties?.description.replace(/\s+/g, ' '),
      );
    }
  });

  test('what the reference library finds wrong only in form is corrected; the rest is reported and left out', async () => {
    await writeFile(join(bench.folder, 'outside.md'), FOREIGN['data-analysis'] ?? '');
    await mkdir(join(bench.folder, 'elsewhere'));
    await writeFile(join(bench.folder, 'elsewhere/SKILL.md'), '---\nname: elsewhere\ndescription: d\n---\n');
    await bench.add('Old Tools', 'b', 'name: Old Tools\ndescription: d\nversion: 1.0\ntriggers: [old]');
    await bench.add('weekly-report-2', 'b', 'name: weekly-report\ndescription: another');
    await bench.add('incident-summary', 'OURS', 'name: incident-summary\ndescription: Ours.');
    await bench.add('nameless', 'b', 'description: d');
    await bench.add('yamlless', 'b', 'name: [');
    await bench.write('large/SKILL.md', `---\nname: large\ndescription: d\n---\n${'x'.repeat(65_536)}`);
    await bench.link('stray/SKILL.md', '../../outside.md');
    await bench.link('elsewhere', '../elsewhere');
    await bench.link('dangling', 'nowhere');
    await bench.write('not-a-skill/README.md', 'nothing');
    await eventually(async () => {
      const log = gateway.logLines.join('\n');
      for (const [where, note] of [
        ['Old Tools', 'its name was changed to old-tools; its folder has another name'],
        [
          'weekly-report-2',
          'its folder has another name; the skill weekly-report already exists: workspace/weekly-report',
        ],
        ['nameless', 'it has no name'],
        ['yamlless', 'the header of SKILL.md is not YAML'],
        ['large', 'has more than 65536 bytes'],
        ['stray', 'leads out of its folder'],
        ['elsewhere', 'its folder leads out of the folder of skills'],
        ['dangling', 'its folder is a broken link'],
      ] as const) {
        expect(log).toMatch(new RegExp(`"where":"workspace/${where}","note":"[^\\n]*${note}`));
      }
      expect(log).toContain(
        '"where":"builtin/incident-summary","note":"the skill incident-summary already exists',
      );
      expect(log).not.toContain('not-a-skill');
    });
    const served = await skillsB(gateway);
    expect(served.find(({ name }) => name === 'incident-summary')?.description).toBe('Ours.');
    const names = served.map(({ name }) => name);
    expect(names).toContain('old-tools');
    for (const name of ['large', 'elsewhere', 'nameless', 'stray']) expect(names).not.toContain(name);
    expect(new Set(names).size).toBe(names.length);
    const [old] = await judgeWithReference([join(bench.directory, 'Old Tools')]);
    expect(old?.problems).not.toEqual([]);
  });

  test('the number of skills and the size of the catalogue are limited', async () => {
    await gateway.b.patch('/config', { 'skills.max_skills': 3, 'skills.max_catalog_bytes': 350 });
    await eventually(async () => expect(await skillNames(gateway)).toHaveLength(3));
    const { system } = await sentFor('Hello');
    const catalog = system.slice(system.indexOf('Skills are'));
    expect(Buffer.byteLength(catalog)).toBeLessThanOrEqual(350);
    expect([1, 2]).toContain(catalog.split('<skill>').length - 1);
    expect(gateway.logLines.join('\n')).toContain('not all skills fit into the catalogue');
    await gateway.b.patch('/config', { 'skills.max_skills': 200, 'skills.max_catalog_bytes': 16_384 });
  });
});

test('without any skill there is no tool for reading them, and the prompt does not mention them', async () => {
  await gateway.b.patch('/config', { 'skills.enabled': false });
  const { system, tools } = await sentFor('the weekly report');
  expect(system).toBe('You are a helpful assistant.');
  expect(tools).not.toContain('skill_read');
  await gateway.b.patch('/config', { 'skills.enabled': true });
});

test('skills that were off from the start are there at once when they are turned on', async () => {
  const other = await startTestGateway({ env: { ...bench.env, GATEWAY__SKILLS__ENABLED: 'false' } });
  try {
    expect(await skillNames(other)).toEqual([]);
    expect((await other.b.patch('/config', { 'skills.enabled': true })).status).toBe(200);
    expect(await skillNames(other)).toContain('weekly-report');
  } finally {
    await other.stop();
  }
});

test('a skill that cannot be loaded is listed as failed, with the reason, and counted, until it is repaired', async () => {
  const broken = await SkillBench.make();
  await broken.add('sound', 'BODY');
  const byWatchAlone = { GATEWAY__SKILLS__RESCAN_SECS: '86400' };
  const other = await startTestGateway({ env: { ...broken.env, ...byWatchAlone } });
  const failedA = async () => (await other.a.get<{ failed?: object[] }>('/skills')).body.failed;
  const failedB = async () => (await other.b.get<{ failed?: object[] }>('/skills')).body.failed;
  const counted = async () => {
    const { text } = await other.operations.get('/metrics');
    return Number(/^agent_gateway_skills_failed(?:\{.*\})? (\d+)$/m.exec(text)?.[1]);
  };
  try {
    expect([await failedA(), await failedB(), await counted()]).toEqual([undefined, undefined, 0]);
    await broken.add('wordless', 'BODY', 'name: wordless');
    const failed = [{ folder: 'workspace/wordless', error: 'it has no description' }];
    await eventually(async () => expect(await failedB()).toEqual(failed));
    expect([await failedA(), await counted()]).toEqual([failed, 1]);
    expect(await skillNames(other)).not.toContain('wordless');
    await broken.add('wordless', 'BODY');
    await eventually(async () => expect(await failedB()).toBeUndefined());
    expect([await counted(), await skillNames(other)]).toEqual([0, expect.arrayContaining(['wordless'])]);
  } finally {
    await other.stop();
    await broken.clear();
  }
});
