import { attachmentType, contentType, unseenReason } from './file-content.js';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

test.each<[string, Buffer, string]>([
  ['application/octet-stream', PNG, 'image/png'],
  ['image/png', Buffer.from('ffd8ffe0', 'hex'), 'image/jpeg'],
  ['image/jpeg', Buffer.from('GIF89a'), 'image/gif'],
  ['', Buffer.from('RIFF1234WEBPVP8 '), 'image/webp'],
  ['image/png', Buffer.from('<html>not a picture \0</html>'), 'application/octet-stream'],
  ['image/png', Buffer.concat([PNG, Buffer.alloc(3_750_000)]), 'application/octet-stream'],
  ['application/pdf', Buffer.from('\n%PDF-1.7\n'), 'application/pdf'],
  ['application/pdf', Buffer.from([0, 1, 2]), 'application/octet-stream'],
  ['application/octet-stream', Buffer.from('fn main() {}'), 'text/plain'],
  ['application/octet-stream', Buffer.from([0xff, 0, 1]), 'application/octet-stream'],
  ['text/csv', Buffer.from('a;b'), 'text/csv'],
  ['text/csv', Buffer.from([0xe4, 0xf6]), 'application/octet-stream'],
  ['audio/ogg', Buffer.from('OggS'), 'audio/ogg'],
])('a file announced as %j is given to models by its actual content: %#', (announced, data, type) => {
  expect(contentType(announced, data)).toBe(type);
});

test.each([
  ['application/octet-stream', 'file'],
  ['application/pdf', 'file'],
  ['image/png', 'image'],
  ['audio/ogg', 'audio'],
  ['video/mp4', 'video'],
])('%s is kept as %s, however it was sent', (mimeType, type) => {
  expect(attachmentType(mimeType)).toBe(type);
});

test('the person is told why the model cannot see a file', () => {
  expect(unseenReason('image', 'image/png')).toBe('I cannot look at pictures');
  expect(unseenReason('image', 'image/heic')).toBe('I cannot open files of this kind');
  expect(unseenReason('file', 'application/pdf')).toBe('I cannot read PDFs');
  expect(unseenReason('audio', 'audio/ogg')).toBe('I cannot listen to sound');
  expect(unseenReason('video', 'video/mp4')).toBe('I cannot watch videos');
  expect(unseenReason('file', 'application/zip')).toBe('I cannot open files of this kind');
});
