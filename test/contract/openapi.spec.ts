import { readFileSync, writeFileSync } from 'node:fs';
import { documentFile } from '../harness/documented.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type OpenApi, operationsOf, resolved } from './support/openapi-document.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const origin = (profile: 'a' | 'b'): string => `http://127.0.0.1:${gateway.started.ports[profile]}`;

async function documentOf(id: 'a' | 'b' | 'admin', kind = 'openapi'): Promise<OpenApi> {
  const path = id === 'admin' ? `${origin('a')}/admin/v1` : origin(id);
  const response = await fetch(`${path}/${kind}.json`);
  expect(response.status).toBe(200);
  return (await response.json()) as OpenApi;
}

test.each([
  ['a', 'openapi'],
  ['b', 'openapi'],
  ['a', 'asyncapi'],
  ['b', 'asyncapi'],
  ['admin', 'openapi'],
] as const)('the document of Profile %s (%s) is the one that is checked in', async (id, kind) => {
  const document = await documentOf(id, kind);
  const file = documentFile(id, kind);
  const made = `${JSON.stringify(document, null, 2)}\n`;
  if (process.env['UPDATE_OPENAPI'] === '1') writeFileSync(file, made);
  expect(readFileSync(file, 'utf8')).toBe(made);
});

test('the document of Profile A has exactly its 23 operations, that of Profile B its 22 and two marked extensions', async () => {
  const [a, b] = await Promise.all([documentOf('a'), documentOf('b')]);
  expect(operationsOf(a)).toHaveLength(23);
  expect(operationsOf(b)).toHaveLength(24);
  expect(operationsOf(b).filter(({ operation }) => operation['x-extension'])).toHaveLength(2);
});

describe.each(['a', 'b', 'admin'] as const)('the document of Profile %s', (profile) => {
  let document: OpenApi;
  beforeAll(async () => {
    document = await documentOf(profile);
  });

  test('names every operation in the imperative, describes it and its tag', () => {
    const described = new Map(document.tags.map(({ name, description }) => [name, description]));
    for (const { operation } of operationsOf(document)) {
      expect(operation.summary).toMatch(
        /^(Answer|Create|Decide|List|Replay|Revoke|Rotate|Get|End|Send|Read|Test|Restart|Check|Register|Delete|Reconnect|Enable|Disable|Reload|Describe|Scrape|Show|Change|Stream)\b/,
      );
      expect(operation.description).toMatch(
        /Needs (the scope `\w+:\w+`|any token that is valid|no token)\.$/,
      );
      expect(operation.tags).toHaveLength(1);
      expect(described.get(operation.tags[0]!)?.length).toBeGreaterThan(10);
    }
  });

  test('takes an Idempotency-Key for every POST and PATCH, and for nothing else', () => {
    const operations = operationsOf(document);
    const taking = operations.filter(({ operation }) =>
      operation.parameters?.some(({ name, in: place }) => name === 'Idempotency-Key' && place === 'header'),
    );
    const writing = operations.filter(({ method }) => method === 'post' || method === 'patch');
    expect(taking).toEqual(writing);
    if (profile !== 'admin') expect(writing.length).toBeGreaterThan(4);
  });

  test('says every status by its number, with the envelope, an example and its headers', () => {
    for (const { method, operation } of operationsOf(document)) {
      const statuses = Object.keys(operation.responses);
      expect(statuses.filter((status) => !/^\d{3}$/.test(status))).toEqual([]);
      const isOpen = operation.security.length === 0;
      const always = ['400', '405', '429', '500', '503', ...(isOpen ? [] : ['401', '403'])];
      const withBody = operation.requestBody === undefined ? [] : ['413', '415'];
      const writing = method === 'post' || method === 'patch' ? ['409'] : [];
      const withPath = operation.parameters?.some((one) => one.in === 'path') ? ['404'] : [];
      expect(statuses).toEqual(expect.arrayContaining([...always, ...withBody, ...writing, ...withPath]));
      for (const status of statuses) {
        const response = resolved(document, operation.responses[status]!);
        const headers = Object.keys(response.headers ?? {});
        expect(headers).toEqual(
          expect.arrayContaining(['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Reset']),
        );
        if (status === '429') expect(headers).toContain('Retry-After');
        if (status === '401') expect(headers).toContain('WWW-Authenticate');
        if (status === '405') expect(headers).toContain('Allow');
        if (status === '202') expect(headers).toContain('Location');
        if (Number(status) >= 400 && response.content?.['application/json']?.example !== undefined)
          expect(response.content['application/json'].example).toHaveProperty('error.code');
      }
    }
  });

  test('closes every object that a caller sends, and names no schema after a class', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect(name).not.toMatch(/View|[a-z][AB]$/);
      if (name.endsWith('Request') && 'properties' in schema)
        expect(schema['additionalProperties']).toBe(false);
    }
    // Generators treat a field with a default as always present.
    expect(JSON.stringify(document.components.schemas)).not.toContain('"default"');
  });

  if (profile !== 'admin')
    test('describes what webhooks and messages may be', () => {
      const { schemas } = document.components;
      expect(schemas['RegisterHookRequest']).toMatchObject({ required: ['url', 'events'] });
      expect(schemas['RegisterHookRequest']).toHaveProperty('properties.secret.minLength', 8);
      expect(schemas['AttachmentRequest']).toEqual({
        oneOf: [
          { $ref: '#/components/schemas/InlineAttachment' },
          { $ref: '#/components/schemas/LinkedAttachment' },
        ],
      });
      expect(schemas['InlineAttachment']).toMatchObject({
        required: ['type', 'mime_type', 'data'],
        properties: { data: { format: 'byte' }, mime_type: { pattern: '^[a-z]+\\/[a-z0-9.+-]{1,100}$' } },
      });
      expect(schemas['TextMessageRequest']).toMatchObject({
        required: ['content'],
        properties: { content: { minLength: 1 } },
      });
      expect(schemas['RegisterHookRequest']).toHaveProperty(
        'properties.events.items.enum',
        expect.arrayContaining(['session.created', 'message.*', '*']),
      );
    });

  test('says what a token looks like: an API token or a JWT', () => {
    expect(document.components.securitySchemes['bearer']).toMatchObject({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'agw_… or JWT',
    });
  });

  test('has a schema for the events of every stream', () => {
    const streams = operationsOf(document).flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap(({ content }) => content?.['text/event-stream'] ?? []),
    );
    expect(streams).toHaveLength({ a: 2, b: 4, admin: 0 }[profile]);
    for (const { schema } of streams) {
      const events = document.components.schemas[String(schema['$ref']).split('/').at(-1)!]!;
      expect((events['anyOf'] as object[]).filter((one) => '$ref' in one).length).toBeGreaterThan(1);
    }
  });
});

test.each([
  ['a', 'openapi'],
  ['b', 'openapi'],
  ['a', 'asyncapi'],
  ['b', 'asyncapi'],
  ['admin', 'openapi'],
] as const)('every reference in the document of Profile %s (%s) leads somewhere', async (profile, kind) => {
  const document = await documentOf(profile, kind);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path]) => path ?? '',
  );
  expect(references.length).toBeGreaterThan(10);
  for (const reference of references) {
    const target = reference
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], document);
    expect(target).toBeDefined();
  }
});

test.each(['a', 'b'] as const)(
  'Swagger UI of Profile %s is whole: page, style, script and start',
  async (profile) => {
    const page = await fetch(`${origin(profile)}/docs`);
    expect(page.status).toBe(200);
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(files).toHaveLength(4);
    for (const file of files) {
      const response = await fetch(origin(profile) + file);
      expect(response.status).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  },
);

test('Swagger UI keeps the token over a reload', async () => {
  const start = await (await fetch(`${origin('a')}/docs/start.js`)).text();
  expect(start).toContain('persistAuthorization: true');
});

test('a file that the page does not need is not served', async () => {
  for (const name of ['package.json', '..%2fpackage.json', 'index.js', '__proto__']) {
    expect((await fetch(`${origin('a')}/docs/${name}`)).status).toBe(404);
  }
});
