import { readFileSync } from 'node:fs';
import { documentFile } from '../harness/documented.js';
import { brokenCitations, citingFiles, textOf } from './specification-citations.js';
import { tablesOf } from './specification-pages.js';

const HERE = 'test/architecture/specification-pages.spec.ts';

test('every citation names a page, a heading or a record that exists', () => {
  const broken = citingFiles()
    .filter((path) => path !== HERE)
    .flatMap((path) => brokenCitations(textOf(path)).map((citation) => `${path}: ${citation}`));
  expect(broken).toEqual([]);
});

describe('what a broken citation is', () => {
  test.each([
    '/** Attachments of a message (decisions, section 2). */',
    '/** Extensions, section 10 */',
    '/** Skills in Profile A (specification 4.1). */',
    '/** See spec 4.2. */',
    '// agent-gateway-api.md says so',
    '/** (docs/specification/silence.md, Turns) */',
    '/** (docs/specification/silences.md, Returns) */',
    '/** (docs/specification/silences.md, Turn) */',
    '/** (docs/specification/api.md, 4.3) */',
    '/** see decision 9999 */',
  ])('%s', (text) => {
    expect(brokenCitations(text)).toHaveLength(1);
  });

  test.each([
    '/** (docs/specification/silences.md, Session life). */',
    '/** (docs/specification/silences.md, Session\n * life). */',
    '/** (docs/specification/api.md, 4.1 and 4.2) */',
    '/** docs/specification/api.md */',
    '/** The specification has 104 rows; RFC 4648, section 4. See decision 0005. */',
  ])('not %j', (text) => {
    expect(brokenCitations(text)).toEqual([]);
  });
});

describe.each(['a', 'b', 'admin'] as const)('Errors of each route, Profile %s', (profile) => {
  const COMMON = [400, 405, 408, 414, 429, 431, 500, 503];
  const WITH_TOKEN = [...COMMON, 401, 403];
  type Operation = { responses: Record<string, unknown>; security: unknown[] };
  const { paths } = JSON.parse(readFileSync(documentFile(profile), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
  };

  test('the page says what the OpenAPI document says', () => {
    const documented = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { responses, security }]) => {
        const errors = Object.keys(responses)
          .map(Number)
          .filter((status) => status >= 400);
        const common = security.length === 0 ? COMMON : WITH_TOKEN;
        expect(errors).toEqual(expect.arrayContaining(common));
        const beside = errors.filter((status) => !common.includes(status)).join(', ');
        const route = path.replace(/^\/(api|admin)\/v1/, '').replaceAll(/\{(\w+)\}/g, ':$1');
        return `${method.toUpperCase()} ${route}: ${beside === '' ? 'none' : beside}`;
      }),
    );
    const [page, title] =
      profile === 'admin' ? ['additions.md', "Operators' API"] : ['silences.md', 'Errors of each route'];
    const [table] = tablesOf(page).filter(({ heading }) => heading === title);
    const listed = table?.rows
      .filter(([, , third]) => profile === 'admin' || third?.toLowerCase().split(', ').includes(profile))
      .map((cells) => `${cells[0]} ${cells[1]}: ${cells.at(-1)}`);
    expect(listed?.sort()).toEqual(documented.sort());
  });
});
