import { readFileSync } from 'node:fs';

interface Package {
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Installed beside the servers: the protocol's conformance suite, the Node that it needs, and a dependency of a
 * server of ours.
 */
const OTHERS = new Set(['@modelcontextprotocol/conformance', 'node', 'zod']);

test('the table of tried tool servers has all that are installed, in these versions, and at least 18', () => {
  const { dependencies } = JSON.parse(readFileSync('test/tool-servers/package.json', 'utf8')) as Package;
  const servers = Object.entries(dependencies).filter(([name]) => !OTHERS.has(name));
  const [, page = ''] = readFileSync('docs/mcp.md', 'utf8').split('<!-- tool servers:');
  const [table = ''] = page.split('<!-- end');
  const rows = [...table.matchAll(/^\| `([^`]+)` \| (\S+) \| (\d+) \|/gm)];
  expect(rows.map(([, name, version]) => `${name} ${version}`).sort()).toEqual(
    servers.map(([name, version]) => `${name} ${version}`).sort(),
  );
  expect(rows.length).toBeGreaterThanOrEqual(18);
  for (const [, , , tools] of rows) expect(Number(tools)).toBeGreaterThan(0);
});

test('the table of client scenarios says of each that it passes, or why it is not tried', () => {
  const [, page = ''] = readFileSync('docs/mcp.md', 'utf8').split('<!-- client scenarios:');
  const [table = ''] = page.split('<!-- end');
  const said = [...table.matchAll(/^\| `\S+` \| [^|]+ \| (.+) \|$/gm)].map(([, one = '']) => one);
  expect(said.length).toBeGreaterThanOrEqual(48);
  for (const one of said) expect(one).toMatch(/^(?:passes \((\d+)\/\1\)|not tried: .{10,})$/);
});
