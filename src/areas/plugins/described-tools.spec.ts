import { parseTools, textOf } from './described-tools.js';

const tool = (name: string, more: object = {}) => ({ name, ...more });
const described = (...tools: object[]) => JSON.stringify({ tools });

test('tools are parsed as described, with defaults for what is missing', () => {
  expect(parseTools(described(tool('act')), ['tool:act'])).toEqual([
    { name: 'act', description: '', inputSchema: { type: 'object' }, annotations: {} },
  ]);
});

test.each<[string, string, string]>([
  ['no JSON', 'tools: act', 'its description is not {"tools"'],
  ['no list of tools', '{"tools":"act"}', 'its description is not {"tools"'],
  [
    'more than 64 tools',
    described(...Array.from({ length: 65 }, (_, at) => tool(`t${at}`))),
    'is not {"tools"',
  ],
  ['a description without end', described(tool('act', { description: 'x'.repeat(131_072) })), 'too long'],
  ['what was not declared', described(tool('act'), tool('delete')), '"tool:delete", which is not among'],
  ['less than was declared', described(), 'plugin.toml names "tool:act", which it does not describe'],
  ['a tool twice', described(tool('act'), tool('act')), 'it describes a tool twice'],
])('%s is refused', (_what, text, reason) => {
  expect(() => parseTools(text, ['tool:act'])).toThrow(reason);
});

test('a result is its texts; content that is not text is named', () => {
  const content = [{ type: 'text', text: 'one' }, { type: 'image' }, { type: 'text', text: 'two' }];
  expect(textOf(JSON.stringify({ content }))).toBe('one\n[image]\ntwo');
});

test('a result with isError is an error, and so is invalid output', () => {
  const content = [{ type: 'text', text: 'no such town' }];
  expect(() => textOf(JSON.stringify({ content, isError: true }))).toThrow(/^no such town$/);
  expect(() => textOf('done')).toThrow('the plugin did not answer {"content"');
});
