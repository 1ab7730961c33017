import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, McpBench, published, say, scripted, serverB } from '../harness/mcp.js';
import { newSession, TurnStream } from '../harness/turn-stream.js';

let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  const servers = {
    all: published('everything'),
    bare: { ...published('everything'), resources: false },
    narrow: { ...published('everything'), deny_tools: ['read_resource'] },
    plain: scripted(`resources-${process.pid}`),
  };
  bench = await McpBench.make(servers, '[tools.tokens.careful]\ndeny = ["all__*_resource*"]\n');
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => {
    for (const name of Object.keys(servers)) expect((await serverB(gateway, name))?.status).toBe('connected');
  }, 90_000);
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

const outputOf = async (name: string, args: object) =>
  (await callTool(gateway, name, args as Record<string, unknown>)).output;

test('resources are read on demand, as tools: listed with their templates, and read by their URI', async () => {
  const listed = await outputOf('all__list_resources', {});
  expect(listed).toContain('"uri":"demo://resource/static/document/');
  expect(listed).toContain('"uri_template":"demo://resource/dynamic/text/{resourceId}"');
  const read = await outputOf('all__read_resource', { uri: 'demo://resource/dynamic/text/3' });
  expect(read).toContain('Resource 3');
});

test('a resource link in a result names what can be read', async () => {
  const links = await outputOf('all__get-resource-links', { count: 2 });
  const uri = /\[resource [^:]+: (\S+)/.exec(links)?.[1];
  expect(uri).toMatch(/^demo:\/\/resource\/dynamic\//);
  expect(await outputOf('all__read_resource', { uri })).toContain('esource');
});

test('an unknown URI, one of the machine and wrong arguments are answers that the model reads', async () => {
  for (const uri of ['demo://nothing', 'file:///etc/passwd', 'http://169.254.169.254/']) {
    const call = await callTool(gateway, 'all__read_resource', { uri });
    expect([call.status, call.output]).toEqual(['error', expect.stringContaining('not found') as string]);
  }
  expect((await callTool(gateway, 'all__read_resource', { uri: 'x'.repeat(3000) })).status).toBe('error');
  expect((await callTool(gateway, 'all__read_resource', {})).output).toContain('The arguments do not fit');
});

test('under policy: rules of the server and of the token, and a server may have none', async () => {
  const names = async (name: string) => (await serverB(gateway, name))?.tools ?? [];
  expect(await names('all')).toEqual(expect.arrayContaining(['read_resource', 'list_resources']));
  expect(await names('narrow')).toContain('list_resources');
  expect(await names('narrow')).not.toContain('read_resource');
  for (const name of ['bare', 'plain'])
    expect((await names(name)).filter((one) => one.endsWith('_resource'))).toEqual([]);
  const line = '/call all__read_resource {"uri":"demo://resource/dynamic/text/3"}';
  const careful = { a: gateway.caller('a', await gateway.mint({ name: 'careful' })) };
  expect((await say(careful, line)).tool_calls.map(({ status }) => status)).not.toContain('success');
  expect((await say(gateway, line)).tool_calls[0]?.status).toBe('success');
});

test("never another user's: what a session of one user made is not read by another", async () => {
  const made = await say(
    gateway,
    '/call all__gzip-file-as-resource {"name":"mine.gz","data":"data:text/plain;base64,aGVsbG8=","outputType":"resourceLink"}',
    { user_id: 'ada' },
  );
  const uri = /\[resource [^:]+: (\S+?)[\] ]/.exec(made.tool_calls[0]?.output ?? '')?.[1];
  expect(uri).toContain('mine.gz');
  const line = `/call all__read_resource ${JSON.stringify({ uri })}`;
  expect((await say(gateway, line, { user_id: 'ada' })).tool_calls[0]?.status).toBe('success');
  expect((await say(gateway, line, { user_id: 'bob' })).tool_calls[0]?.status).toBe('error');
});

test('progress goes to viewers, and what the server logs to our logs', async () => {
  const path = `http://127.0.0.1:${gateway.started.ports.a}/api/v1/sessions/${await newSession(gateway)}/messages`;
  const content = '/call all__trigger-long-running-operation {"duration":2,"steps":3}';
  const stream = await TurnStream.open(path, gateway.token, { body: { content } });
  await stream.until('done');
  const shown = stream.of('tool_progress').map(({ data }) => data);
  expect(shown.length).toBeGreaterThanOrEqual(2);
  expect(shown[0]).toEqual({
    id: expect.any(String) as string,
    name: 'all__trigger-long-running-operation',
    progress: 1,
    total: 3,
  });
  await callTool(gateway, 'all__toggle-simulated-logging', {});
  await eventually(() => {
    const lines = gateway.logLines.map((line) => JSON.parse(line) as { module: string; message: string });
    expect(
      lines.filter(({ module, message }) => module === 'mcp::all' && /message/i.test(message)),
    ).not.toEqual([]);
  }, 20_000);
});
