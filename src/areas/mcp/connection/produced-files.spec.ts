import type { ContentBlock } from '@modelcontextprotocol/client';
import { producedFiles } from './produced-files.js';

const PNG = Buffer.from('89504e470d0a1a0a00', 'hex').toString('base64');
const blob = (uri: string, mimeType: string | undefined, data: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, ...(mimeType === undefined ? {} : { mimeType }), blob: data },
});
const image = (data: string, audience?: ('user' | 'assistant')[]): ContentBlock => ({
  ...{ type: 'image', mimeType: 'image/png', data },
  ...(audience === undefined ? {} : { annotations: { audience } }),
});
const seen = (...content: ContentBlock[]) =>
  producedFiles(content).map(({ name, mimeType }) => [name, mimeType]);

test('pictures, sounds and embedded bytes are files, with the type of their bytes; text is none', () => {
  expect(
    seen(
      image(PNG),
      { type: 'text', text: 'x' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'x' } },
      { type: 'audio', mimeType: 'audio/wav', data: Buffer.from('RIFF....WAVE').toString('base64') },
      blob('file:///tmp/sheet.xlsx', 'application/vnd.ms-excel', 'AAAA'),
    ),
  ).toEqual([
    ['image.png', 'image/png'],
    ['audio.wav', 'audio/wav'],
    ['sheet.xlsx', 'application/vnd.ms-excel'],
  ]);
});

test('what is meant for the model only is no file for people', () => {
  expect(
    seen(image(PNG, ['assistant']), image(PNG, ['user']), image(PNG, ['user', 'assistant'])),
  ).toHaveLength(2);
});

test('embedded text is a file when its server addresses it to people', () => {
  const text = (audience: ('user' | 'assistant')[]): ContentBlock => ({
    ...{ type: 'resource', annotations: { audience } },
    resource: { uri: 'file:///tmp/table.csv', mimeType: 'text/csv', text: 'a,b\n1,2\n' },
  });
  expect(producedFiles([text(['user']), text(['assistant'])])).toEqual([
    { name: 'table.csv', mimeType: 'text/csv', data: Buffer.from('a,b\n1,2\n') },
  ]);
});

test.each([
  ['file:///../../etc/passwd', undefined, 'passwd'],
  ['demo://x/..%2F..%2Fa%0Ab.png?x=1', 'image/png', '_.._a_b.png'],
  ['demo://x/\u202egnp.exe', undefined, '_gnp.exe'],
  ['demo://x/%E0%A4%A', 'text/csv', '%E0%A4%A.csv'],
  ['demo://x/', 'application/pdf; x="y"', 'file.pdf'],
  ['demo://x/.hidden', 'not a type', 'hidden'],
])('a name is what can be seen of the last part of %s', (uri, mimeType, name) => {
  expect(seen(blob(uri, mimeType, 'AAAA'))[0]?.[0]).toBe(name);
});

test('a long name keeps its ending and has at most 100 characters', () => {
  const [[name = ''] = []] = seen(blob(`demo://x/${'n'.repeat(300)}.csv`, 'text/csv', 'AAAA'));
  expect([name.length, name.slice(-4)]).toEqual([100, '.csv']);
});

test('what is no base64, empty, or past twenty files and 10 MiB is left out', () => {
  expect(seen(image('no base64 !'), image(''))).toEqual([]);
  expect(seen(...Array.from({ length: 25 }, () => image(PNG)))).toHaveLength(20);
  const large = Buffer.alloc(6 * 1_048_576).toString('base64');
  expect(seen(blob('x://a', undefined, large), blob('x://b', undefined, large), image(PNG))).toHaveLength(2);
});
