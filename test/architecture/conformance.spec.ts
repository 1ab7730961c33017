import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { conformancePage, quotations, quotes, quotesNothing } from './conformance.js';
import { REMARKS } from './conformance-remarks.js';
import { SPECIFICATION_ROUTES } from './specification-routes.js';
import { SPECIFICATION_ROWS, SPECIFICATION_TABLES } from './specification-rows.js';

const all = quotations();

test('the specification has 104 rows in its tables, each another', () => {
  expect(SPECIFICATION_TABLES.map(({ section, rows }) => [section, rows.length])).toEqual([
    ['2.1', 7],
    ['2.1', 4],
    ['2.1', 9],
    ['2.4', 6],
    ['2.8', 8],
    ['3', 5],
    ['3', 9],
    ['4.1', 23],
    ['4.2', 22],
    ['7', 7],
    ['8', 4],
  ]);
  expect(new Set(SPECIFICATION_ROWS.map(({ quote }) => quote)).size).toBe(104);
});

test.each([
  [
    'a',
    3,
    [
      'GET /logs level,limit,since,component',
      'GET /sessions status,limit,offset',
      'GET /sessions/:id/messages limit,before',
    ],
  ],
  [
    'b',
    4,
    [
      'GET /logs level,module,since,limit,stream',
      'GET /logs/stream level',
      'GET /sessions status,channel,limit,offset',
      'GET /sessions/:id/messages limit,before',
    ],
  ],
] as const)(
  'request cells of Profile %s say which routes take a body and a query',
  (profile, bodies, queries) => {
    const routes = SPECIFICATION_ROUTES[profile];
    expect(routes.filter(({ body }) => body)).toHaveLength(bodies);
    const asked = routes.flatMap(({ method, path, query }) =>
      query ? [`${method} ${path} ${query.join(',')}`] : [],
    );
    expect(asked.sort()).toEqual(queries);
  },
);

test('every row is quoted by a test', () => {
  const unquoted = SPECIFICATION_ROWS.filter((row) => !all.some((one) => quotes(one, row)));
  expect(unquoted.map(({ quote }) => quote)).toEqual([]);
});

test('no title quotes a row that does not exist', () => {
  const wrong = all.filter(quotesNothing);
  expect(wrong.map(({ file, title }) => `${file}: ${title}`)).toEqual([]);
});

test('remarks are about rows, and say where more is written', () => {
  const known = new Set(SPECIFICATION_ROWS.map(({ quote }) => quote));
  for (const [quote, remark] of Object.entries(REMARKS)) {
    expect([quote, known.has(quote)]).toEqual([quote, true]);
    for (const [, target] of remark.matchAll(/\]\(([^)#]+)/g))
      expect(() => readFileSync(join(__dirname, '../../docs', target ?? ''))).not.toThrow();
  }
});

test('docs/conformance.md says what the titles say', () => {
  const file = join(__dirname, '../../docs/conformance.md');
  const page = conformancePage(all);
  if (process.env['UPDATE_CONFORMANCE'] === '1') writeFileSync(file, page);
  expect(readFileSync(file, 'utf8')).toBe(page);
});
