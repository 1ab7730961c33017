import { TomlLines } from './toml-lines.js';

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
