import 'reflect-metadata';
import { newUserMessage, type SendMessageRequest } from './message.requests.js';

test('a request does not keep the base64 of its attachments, which may be large, until it is answered', () => {
  const bytes = Buffer.from('The meeting is at noon.');
  const request: SendMessageRequest = {
    content: 'What does it say?',
    attachments: [
      { type: 'file', mime_type: 'text/plain', data: bytes.toString('base64') },
      { type: 'image', mime_type: 'image/png', url: 'https://example.com/x.png' },
    ],
  };
  const { attachments } = newUserMessage(request);
  expect(attachments[0]).toMatchObject({ mimeType: 'text/plain', data: bytes });
  expect(request.attachments).toEqual([
    { type: 'file', mime_type: 'text/plain' },
    { type: 'image', mime_type: 'image/png', url: 'https://example.com/x.png' },
  ]);
});
