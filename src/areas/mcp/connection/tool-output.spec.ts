import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { toolOutput } from './tool-output.js';

const MIB = 1_048_576;
const base64 = (start: string, size = 0, encoding: BufferEncoding = 'hex'): string =>
  Buffer.concat([Buffer.from(start, encoding), Buffer.alloc(size)]).toString('base64');
const PNG = '89504e470d0a1a0a';
const png = base64(PNG, 300);
const image = (data: string, mimeType = 'image/png') => ({ type: 'image' as const, mimeType, data });
const blob = (data: string, mimeType?: string, uri = 'file:///a/b.bin') => ({
  type: 'resource' as const,
  resource: { uri, blob: data, ...(mimeType !== undefined && { mimeType }) },
});
const of = (content: ContentBlock[], structuredContent?: Record<string, unknown>) => {
  const result: CallToolResult = { content, ...(structuredContent && { structuredContent }) };
  // What people are sent is in produced-files.spec.ts.
  const { files: _forPeople, ...forModel } = toolOutput(result);
  return forModel;
};
const says = (text: string, structured: Record<string, unknown>) =>
  of([{ type: 'text', text }], structured).content;

test('texts are passed on as they are, pictures as parts that the text names', () => {
  const output = of([
    { type: 'text', text: 'one' },
    image(png),
    { type: 'resource_link', name: 'log', uri: 'file:///log' },
    { type: 'resource', resource: { uri: 'file:///a', text: 'two' } },
    blob('AAAA'),
  ]);
  expect(output).toEqual({
    content:
      'one\n[image image/png, 308 bytes]\n[resource log: file:///log]\ntwo\n' +
      '[resource file:///a/b.bin, application/octet-stream, 3 bytes: not shown, because models cannot be shown such bytes]',
    parts: [{ type: 'image', mimeType: 'image/png', data: png }],
  });
});

test.each([
  ['ffd8ff', 'image/jpeg', { type: 'image' }],
  ['47494638', 'image/gif', { type: 'image' }],
  ['524946460000000057454250', 'image/webp', { type: 'image' }],
  ['255044462d', 'application/pdf', { type: 'file', name: 'b.bin' }],
  ['524946460000000057415645', 'audio/wav', { type: 'file', name: 'b.bin' }],
  ['494433', 'audio/mpeg', { type: 'file', name: 'b.bin' }],
])('a resource that begins with %s is %s, whatever its server says', (start, mimeType, part) => {
  const data = base64(start, 20);
  expect(of([blob(data, 'x/y')]).parts).toEqual([{ ...part, mimeType, data }]);
});

test('a sound is a file, and a file of text is text', () => {
  const sound = base64('494433', 20);
  expect(of([{ type: 'audio', mimeType: 'audio/mp3', data: sound }])).toEqual({
    content: '[audio audio/mp3, 23 bytes]',
    parts: [{ type: 'file', name: 'audio', mimeType: 'audio/mpeg', data: sound }],
  });
  expect(of([blob(base64('grüezi', 0, 'utf8'), 'text/plain; charset=utf-8')])).toEqual({ content: 'grüezi' });
  expect(of([blob(base64('ff00'), 'text/plain')]).parts).toBeUndefined();
});

test('base64 may have line ends and lack its padding, and is given without either', () => {
  const whole = base64(PNG, 5);
  expect(whole).toMatch(/=$/);
  const loose = whole.replace(/=+$/, '').replace(/^.{4}/, '$&\n');
  expect(of([image(loose)]).parts).toEqual([{ type: 'image', mimeType: 'image/png', data: whole }]);
});

test.each([
  ['no base64', image('not base64!'), 'because it is not valid base64'],
  ['a picture that is a sound', image(base64('494433', 9)), 'because its bytes are audio/mpeg'],
  ['bytes of no known type', image(base64('', 300)), 'because models cannot be shown such bytes'],
  ['a large picture', image(base64(PNG, 3.75 * MIB)), 'larger than 3.75 MiB'],
  ['a large file', blob(base64('255044462d', 5 * MIB)), 'larger than 5 MiB'],
  ['a very large file', blob(base64('255044462d', 6 * MIB)), 'larger than 5 MiB'],
])('%s is named with the reason why it is not shown', (_, block, reason) => {
  const { content, parts } = of([block]);
  expect(content).toMatch(/^\[[^\n]+ bytes: not shown, [^\n]+\]$/);
  expect(content).toContain(`not shown, ${reason}]`);
  expect(parts).toBeUndefined();
});

test('a result has at most 10 MiB and 20 parts; what follows is named', () => {
  const large = blob(base64('255044462d', 4 * MIB));
  const many = of([large, large, large, image(png)]);
  expect(many.parts?.map(({ type }) => type)).toEqual(['file', 'file', 'image']);
  expect(many.content.split('\n')[2]).toContain('because the result has more than 10 MiB]');
  const small = of(Array.from({ length: 21 }, () => image(png)));
  expect(small.parts).toHaveLength(20);
  expect(small.content.split('\n')[20]).toContain('because the result has more than 20]');
});

test('structured content follows text that does not say it', () => {
  expect(of([], { sum: 3 }).content).toBe('{"sum":3}');
  expect(says('Two rows.', { rows: [1, 2] })).toBe('Two rows.\n{"rows":[1,2]}');
});

test.each<[said: string, structured: Record<string, unknown>]>([
  ['3', { sum: 3 }],
  ['{\n "b": [2],\n "a": 1\n}', { a: 1, b: [2] }],
  ['the whole file', { content: 'the whole file' }],
])('structured content that the text says already is not repeated: %j', (said, structured) => {
  expect(says(said, structured)).toBe(said);
});

test('bytes are not repeated as structured content', () => {
  const block = image(png);
  expect(of([block], { content: [block] }).content).toBe('[image image/png, 308 bytes]');
  expect(of([block], { at: 1, data: png }).content).toBe(
    '[image image/png, 308 bytes]\n{"at":1,"data":"[see above]"}',
  );
});

test('text and structured content have at most 1,048,576 characters together', () => {
  const content = says('x'.repeat(MIB - 5), { rows: [1, 2] });
  expect(content.length).toBe(MIB);
  expect(content.slice(-5)).toBe('\n{"ro');
});
