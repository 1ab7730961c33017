import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

interface Operation {
  responses: Record<string, unknown>;
  parameters?: { name: string; in: string }[];
  'x-extension'?: boolean;
}

interface OpenApi {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const origin = (profile: 'a' | 'b'): string => `http://127.0.0.1:${gateway.started.ports[profile]}`;

async function documentOf(profile: 'a' | 'b'): Promise<OpenApi> {
  const response = await fetch(`${origin(profile)}/openapi.json`);
  expect(response.status).toBe(200);
  return (await response.json()) as OpenApi;
}

const operationsOf = (document: OpenApi): string[] =>
  Object.entries(document.paths)
    .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`))
    .sort();

test.each(['a', 'b'] as const)(
  'the document of Profile %s is the one that is checked in',
  async (profile) => {
    const document = await documentOf(profile);
    const file = join(__dirname, `../../docs/profile-${profile}.openapi.json`);
    const made = `${JSON.stringify(document, null, 2)}\n`;
    if (process.env['UPDATE_OPENAPI'] === '1') writeFileSync(file, made);
    expect(readFileSync(file, 'utf8')).toBe(made);
  },
);

test('the document of Profile A has exactly its 23 operations, that of Profile B its 22 and two marked extensions', async () => {
  const [a, b] = await Promise.all([documentOf('a'), documentOf('b')]);
  expect(operationsOf(a)).toHaveLength(23);
  expect(operationsOf(b)).toHaveLength(24);
  const extensions = Object.values(b.paths).flatMap((item) =>
    Object.values(item).filter((one) => one['x-extension']),
  );
  expect(extensions).toHaveLength(2);
});

test.each(['a', 'b'] as const)(
  'every POST and PATCH in the document of Profile %s takes an Idempotency-Key, and nothing else does',
  async (profile) => {
    const { paths } = await documentOf(profile);
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { parameters = [] }]) => ({ path, method, parameters })),
    );
    const taking = operations.filter(({ parameters }) =>
      parameters.some(({ name, in: place }) => name === 'Idempotency-Key' && place === 'header'),
    );
    const writing = operations.filter(({ method }) => method === 'post' || method === 'patch');
    expect(taking).toEqual(writing);
    expect(writing.length).toBeGreaterThan(4);
  },
);

test.each(['a', 'b'] as const)(
  'every reference in the document of Profile %s leads somewhere',
  async (profile) => {
    const document = await documentOf(profile);
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
  },
);

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

test('a file that the page does not need is not served', async () => {
  for (const name of ['package.json', '..%2fpackage.json', 'index.js', '__proto__']) {
    expect((await fetch(`${origin('a')}/docs/${name}`)).status).toBe(404);
  }
});
