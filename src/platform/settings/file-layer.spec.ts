import fc from 'fast-check';
import { substitute, TomlLines } from './file-layer.js';

const lookup = (name: string) => ({ HOST: 'db', EMPTY: '', REF: `\${HOST}` })[name];

describe('references to the environment', () => {
  test.each([
    [`\${HOST}:\${HOST}`, 'db:db'],
    [`a\${EMPTY}b`, 'ab'],
    [`\${REF}`, `\${HOST}`],
    [`$\${HOST}`, `\${HOST}`],
    ['costs $5 or $HOST', 'costs $5 or $HOST'],
  ])('%s reads %s', (text, expected) => {
    expect(substitute(text, lookup)).toEqual({ text: expected, missing: [], malformed: false });
  });

  test('a missing variable is named, a malformed reference is reported', () => {
    expect(substitute(`\${ONE} \${TWO}`, lookup).missing).toEqual(['ONE', 'TWO']);
    expect([`\${`, `\${a b}`, `\${HOST:-x}`].map((text) => substitute(text, lookup).malformed)).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('text without a reference stays as it is', () => {
    const plain = fc.string().filter((text) => !text.includes('${'));
    fc.assert(fc.property(plain, (text) => substitute(text, lookup).text === text));
  });
});

const toml = `# port = 1
top = 1
[gateway] # listeners
port = 2
"profile_a_port" = 3
[agent]
system_prompt = """
port = 4
"""
on_busy = "queue"
[ mcp . servers.'files' ]
env.HOME = "/"
allow = [
  "port = 5",
]
`;

describe('the lines of a TOML file', () => {
  test.each([
    ['top', 2],
    ['gateway', 3],
    ['gateway.port', 4],
    ['gateway.profile_a_port', 5],
    ['agent.on_busy', 10],
    ['mcp.servers.files.env.HOME', 12],
    ['mcp.servers.files.allow.0', 13],
    ['agent.port', 6],
    ['absent', undefined],
  ])('%s is set on line %s', (key, line) => {
    expect(new TomlLines(toml).lineOf(key.split('.'))).toBe(line);
  });

  test('a line names the key it sets, and a key its first line', () => {
    const lines = new TomlLines('[agent]\nmax_turns = 1\n# x\n[agent]\n');
    expect([1, 2, 3, 4].map((line) => lines.keyAt(line))).toEqual([
      'agent',
      'agent.max_turns',
      undefined,
      'agent',
    ]);
    expect(lines.firstLineOf('agent')).toBe(1);
    expect(lines.firstLineOf('gateway')).toBeUndefined();
  });
});
