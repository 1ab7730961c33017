import { faceOf } from './faces.js';

test.each([
  ['/admin/v1/tokens', 'admin'],
  ['/ADMIN/V1?x', 'admin'],
  ['/v1/models', 'openai'],
  ['/v1', 'openai'],
  ['/mcp', 'mcp'],
  ['/mcp?x=1', 'mcp'],
  ['/a2a', 'a2a'],
  ['/.well-known/agent-card.json', 'a2a'],
  ['/console/assets/main.js', 'console'],
  ['/api/v1/sessions', undefined],
  ['/v12/models', undefined],
  ['/mcpx', undefined],
  ['/xwell-known/agent-card.json', undefined],
  ['/.well-known/jwks.json', undefined],
  ['/', undefined],
])('%s belongs to %s', (url, face) => {
  expect(faceOf(url)).toBe(face);
});
