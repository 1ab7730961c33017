import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ChatOpenAI } from '@langchain/openai';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { transform } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import { parse } from 'yaml';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { configEnv, removeConfigs } from '../harness/identity.js';
import type { JudgingModel } from '../harness/judging-model.js';
import { startEchoModel } from '../harness/openai-face.js';

jest.setTimeout(60_000);
const run = promisify(execFile);

interface Recipe {
  readonly language: string;
  readonly code: string;
}

/** The code block below each heading of the page, with the address of the test's gateway. */
const recipes = new Map<string, Recipe>();
let folder: string;
let model: JudgingModel;
let gateway: TestGateway;
beforeAll(async () => {
  model = await startEchoModel();
  gateway = await startTestGateway({ env: { ...model.env, ...(await configEnv('[agents.support]\n')) } });
  const page = await readFile('docs/clients.md', 'utf8');
  for (const section of page.split(/^##+ /m).slice(1)) {
    const [, language, code] = /^```(\w+)\n(.*?)^```$/ms.exec(section) ?? [];
    if (language === undefined || code === undefined) continue;
    const origin = `http://127.0.0.1:${gateway.started.ports.b}`;
    const heading = section.slice(0, section.indexOf('\n'));
    recipes.set(heading, { language, code: code.replaceAll('https://gateway.example.com', origin) });
  }
  folder = await folderWithClients();
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([model.provider.stop(), removeConfigs(), rm(folder, { recursive: true, force: true })]);
});

/** A folder with the packages that the recipes import, as after `npm install`. */
async function folderWithClients(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'agw-recipes-'));
  await symlink(resolve('node_modules'), join(made, 'node_modules'));
  const own = join(made, 'run', 'node_modules', '@agent-gateway');
  await mkdir(own, { recursive: true });
  await symlink(resolve('client'), join(own, 'client'));
  return made;
}

function recipeOf(heading: string, language: string): string {
  const recipe = recipes.get(heading);
  expect([heading, recipe?.language]).toEqual([heading, language]);
  return recipe?.code ?? '';
}

const environment = (more: Record<string, string> = {}) => ({
  ...{ PATH: process.env['PATH'], TOKEN: gateway.token, ...more },
});

async function script(heading: string, change = (code: string): string => code): Promise<string> {
  const { code } = await transform(change(recipeOf(heading, 'ts')), { loader: 'ts', format: 'esm' });
  const file = join(folder, 'run', `${heading.replaceAll(/\W/g, '')}.mjs`);
  await writeFile(file, code);
  return file;
}

/** Replaces `${TOKEN}` and `$TOKEN`, as the programs do that read such a file. */
const filled = (text: string): string => text.replaceAll(/\$\{TOKEN\}|\$TOKEN/g, gateway.token);

test('every code block of the page is run', () => {
  const run = ["OpenAI's SDK", "OpenAI's Agents SDK", 'AI SDK', 'LangChain', 'TypeScript', 'Webhooks'];
  const others = ['curl', 'Open WebUI', 'LibreChat', 'Agents that speak A2A', 'MCP clients'];
  expect([...recipes.keys()].sort()).toEqual([...run, ...others].sort());
});

test('each heading has one block, and none is left out', async () => {
  const page = await readFile('docs/clients.md', 'utf8');
  expect([...page.matchAll(/^```\w+$/gm)]).toHaveLength(recipes.size);
});

test.each([
  ["OpenAI's SDK", '3 messages, the last: And then?'],
  ["OpenAI's Agents SDK", '1 messages, the last: Hello'],
  ['AI SDK', '1 messages, the last: Hello'],
  ['LangChain', '1 messages, the last: Hello'],
  ['TypeScript', '1 messages, the last: Hello'],
  ['Agents that speak A2A', '1 messages, the last: Hello'],
])('the recipe %s runs as it stands', async (heading, said) => {
  const { stdout } = await run(process.execPath, [await script(heading)], { env: environment() });
  expect(stdout).toContain(said);
});

test('the recipe curl runs as it stands', async () => {
  const { stdout } = await run('sh', ['-c', recipeOf('curl', 'sh')], { env: environment() });
  expect(JSON.parse(stdout)).toMatchObject({
    choices: [{ message: { role: 'assistant', content: '1 messages, the last: Hello' } }],
  });
});

test('the recipe Webhooks runs as it stands: it takes what is signed, and nothing else', async () => {
  const port = await freePort();
  const secret = `whsec_${Buffer.from('a secret of a webhook, 24+').toString('base64')}`;
  const file = await script('Webhooks', (code) => code.replace('8080', String(port)));
  const child = spawn(process.execPath, [file], { env: environment({ HOOK_SECRET: secret }) });
  try {
    const body = JSON.stringify({ id: 'evt_1', event: 'session.created', sequence: 1, data: {} });
    const [id, at] = ['evt_1', new Date()];
    const post = async (signature: string): Promise<number> => {
      const headers = { 'webhook-id': id, 'webhook-signature': signature };
      const stamp = { 'webhook-timestamp': String(Math.floor(at.getTime() / 1000)) };
      const url = `http://127.0.0.1:${port}`;
      return (await fetch(url, { method: 'POST', body, headers: { ...headers, ...stamp } })).status;
    };
    const signature = new Webhook(secret).sign(id, at, body);
    await eventually(async () => expect(await post(signature)).toBe(204), 20_000);
    expect(await post('v1,AAAA')).toBe(400);
  } finally {
    child.kill('SIGKILL');
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

test('the recipe MCP clients, read as they read it, leads to the agents', async () => {
  const { mcpServers } = JSON.parse(filled(recipeOf('MCP clients', 'json'))) as {
    mcpServers: { agents: { type: string; url: string; headers: Record<string, string> } };
  };
  const { type, url, headers } = mcpServers.agents;
  expect(type).toBe('http');
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const answer = await client.callTool({ name: 'ask_support', arguments: { message: 'Hello' } });
  await client.close();
  expect(answer.content).toEqual([{ type: 'text', text: '1 messages, the last: Hello' }]);
});

/** Headers with the user's name, which both programs send when configured. The gateway uses the token instead. */
const WHO = { 'X-OpenWebUI-User-Name': 'Ada', 'X-OpenWebUI-User-Id': '1', 'X-OpenWebUI-Chat-Id': 'c1' };

test('the calls of Open WebUI, as its source makes them: models, a streamed answer, a title', async () => {
  const lines = filled(recipeOf('Open WebUI', 'sh')).trim().split('\n');
  const settings = Object.fromEntries(lines.map((line) => line.split('=', 2))) as Record<string, string>;
  const base = settings['OPENAI_API_BASE_URL'] ?? '';
  const authorization = `Bearer ${settings['OPENAI_API_KEY']}`;
  const headers = { 'Content-Type': 'application/json', Authorization: authorization, ...WHO };
  const models = (await (await fetch(`${base}/models`, { headers })).json()) as { data: { id: string }[] };
  expect(models.data.map(({ id }) => id)).toContain('support');

  const post = (body: object): Promise<Response> =>
    fetch(`${base}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
  ];
  const stream = { stream: true, stream_options: { include_usage: true }, temperature: 0.5 };
  const streamed = await post({ model: 'support', messages, ...stream });
  expect(streamed.headers.get('content-type')).toContain('text/event-stream');
  const text = await streamed.text();
  expect(text).toContain('"usage":{');
  expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  const asked = [{ role: 'user', content: 'A title for this' }];
  const title = await post({ model: 'support', messages: asked, stream: false, max_completion_tokens: 1000 });
  expect(await title.json()).toMatchObject({
    choices: [{ message: { content: '1 messages, the last: A title for this' }, finish_reason: 'stop' }],
    usage: { total_tokens: expect.any(Number) as number },
  });
});

test('the calls of LibreChat, as its source makes them: models, a streamed answer, a title', async () => {
  const { endpoints } = parse(filled(recipeOf('LibreChat', 'yaml'))) as {
    endpoints: { custom: { apiKey: string; baseURL: string; models: { default: string[] } }[] };
  };
  const [custom] = endpoints.custom;
  const { apiKey = '', baseURL = '', models } = custom ?? {};
  const answer = await fetch(`${baseURL}/models`, { headers: { Authorization: `Bearer ${apiKey}` } });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(models?.default ?? ['']));

  const chat = (streaming: boolean): ChatOpenAI =>
    new ChatOpenAI({
      ...{ model: 'support', apiKey, streaming, maxRetries: 0, user: 'user-1', temperature: 1, topP: 1 },
      ...{ presencePenalty: 0, frequencyPenalty: 0, configuration: { baseURL, defaultHeaders: WHO } },
    });
  let said = '';
  for await (const piece of await chat(true).stream('Hello')) said += piece.text;
  expect(said).toBe('1 messages, the last: Hello');
  expect((await chat(false).invoke('A title for this')).text).toContain('A title for this');
});
