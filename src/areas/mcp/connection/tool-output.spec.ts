import { toolOutput } from './tool-output.js';

test('texts stand as they are, and everything else is named', () => {
  const output = toolOutput({
    content: [
      { type: 'text', text: 'one' },
      { type: 'image', mimeType: 'image/png', data: Buffer.alloc(300).toString('base64') },
      { type: 'resource_link', name: 'log', uri: 'file:///log' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'two' } },
      { type: 'resource', resource: { uri: 'file:///b', blob: 'AAAA' } },
    ],
  });
  expect(output).toBe(
    'one\n[image image/png, 300 bytes]\n[resource log: file:///log]\ntwo\n[resource file:///b]',
  );
});

test('structured content speaks when nothing else does', () => {
  expect(toolOutput({ content: [], structuredContent: { sum: 3 } })).toBe('{"sum":3}');
  expect(toolOutput({ content: [{ type: 'text', text: '3' }], structuredContent: { sum: 3 } })).toBe('3');
});
