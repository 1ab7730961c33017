import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, published } from '../harness/mcp.js';
import { PluginBench } from '../harness/plugins.js';
import { newSession } from './support/faces.js';
import {
  type OpenApi,
  type OpenApiOperation,
  type OpenApiParameter,
  operationsOf,
  type RoutedOperation,
} from './support/openapi-document.js';

/** How long an endless stream is read. */
const POLL_MS = 300;

let gateway: TestGateway;
let mcp: McpBench;
let plugins: PluginBench;
const documents = new Map<'a' | 'b', OpenApi>();
beforeAll(async () => {
  mcp = await McpBench.make({ memory: published('memory') });
  plugins = await PluginBench.make();
  await plugins.addShipped();
  gateway = await startTestGateway({ env: { ...mcp.env, ...plugins.env } });
  for (const profile of ['a', 'b'] as const) {
    const response = await fetch(`http://127.0.0.1:${gateway.started.ports[profile]}/openapi.json`);
    documents.set(profile, (await response.json()) as OpenApi);
  }
});
afterAll(async () => {
  await gateway.stop();
  await mcp.clear();
  await plugins.clear();
});

/** Has no example, because it must be created first: ids, and what an operator has configured. */
const MADE: Readonly<Record<string, () => Promise<string> | string>> = {
  'sessions.id': () => newSession(gateway.a),
  'hooks.id': async () => {
    const hook = { url: 'https://example.com/agent-events', events: ['*'] };
    return (await gateway.a.post<{ id: string }>('/hooks', hook)).body.id;
  },
  'mcp.name': () => 'memory',
  'plugins.name': () => 'measures',
};

/** The value that Swagger UI fills in for a parameter. */
function prefilled({ example, schema }: OpenApiParameter): string | undefined {
  const value = example ?? schema.example ?? schema.default;
  return value === undefined ? undefined : JSON.stringify(value).replace(/^"|"$/g, '');
}

async function addressOf(path: string, operation: OpenApiOperation): Promise<string> {
  const query = new URLSearchParams();
  let address = path.replace('/api/v1', '');
  for (const parameter of operation.parameters ?? []) {
    const value = prefilled(parameter);
    if (parameter.in === 'query' && value !== undefined) query.set(parameter.name, value);
    if (parameter.in !== 'path') continue;
    const made = MADE[`${operation.tags[0]}.${parameter.name}`];
    address = address.replace(`{${parameter.name}}`, value ?? (await made?.()) ?? '');
  }
  return query.size === 0 ? address : `${address}?${query.toString()}`;
}

function bodiesOf({ requestBody }: OpenApiOperation): [string, unknown][] {
  if (requestBody === undefined) return [['', undefined]];
  const { examples = {} } = requestBody.content['application/json'] ?? {};
  return Object.entries(examples).map(([name, { value }]) => [name, value]);
}

const goodStatuses = ({ responses }: OpenApiOperation): number[] =>
  Object.keys(responses)
    .map(Number)
    .filter((status) => status < 300);

describe.each(['a', 'b'] as const)('every example of Profile %s can be sent as it stands', (profile) => {
  const sent = async ({ path, method, operation }: RoutedOperation): Promise<void> => {
    const bodies = bodiesOf(operation);
    expect([operation.operationId, bodies.length]).not.toEqual([operation.operationId, 0]);
    for (const [name, body] of bodies) {
      const address = await addressOf(path, operation);
      const { status } = await gateway[profile].send(method.toUpperCase(), address, { body });
      expect([operation.operationId, name, goodStatuses(operation).includes(status)]).toEqual([
        operation.operationId,
        name,
        true,
      ]);
    }
  };

  test('to every operation that answers at once', async () => {
    const operations = operationsOf(documents.get(profile)!).filter(
      ({ operation }) => !onlyStreams(operation),
    );
    expect(operations.length).toBe(23);
    for (const placed of operations) await sent(placed);
  });

  test('as a stream, wherever there is one', async () => {
    const streams = operationsOf(documents.get(profile)!).filter(({ operation }) => isStream(operation));
    expect(streams.length).toBe(profile === 'a' ? 2 : 4);
    for (const { path, method, operation } of streams) {
      const [[, body] = ['', undefined]] = bodiesOf(operation);
      const address = (await addressOf(path, operation)).replace('stream=false', 'stream=true');
      const abort = new AbortController();
      const response = await fetch(gateway[profile].base + address, {
        method: method.toUpperCase(),
        headers: {
          authorization: `Bearer ${gateway.token}`,
          accept: 'text/event-stream',
          'content-type': 'application/json',
        },
        signal: abort.signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      setTimeout(() => abort.abort(), POLL_MS);
      await response.text().catch(() => undefined);
    }
  });
});

const isStream = ({ responses }: OpenApiOperation): boolean =>
  responses['200']?.content?.['text/event-stream'] !== undefined;
const onlyStreams = (operation: OpenApiOperation): boolean =>
  isStream(operation) && Object.keys(operation.responses['200']!.content!).length === 1;
