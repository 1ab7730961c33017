import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__SKILLS__BUILTIN: 'false' } });
});
afterAll(() => gateway.stop());

test.each([
  ['a', '/mcp/servers', { servers: [] }],
  ['a', '/mcp/tools', { tools: [], total: 0 }],
  ['a', '/plugins', { plugins: [] }],
  ['a', '/skills', { skills: [] }],
  ['b', '/mcp', { servers: [] }],
  ['b', '/plugins', { plugins: [] }],
  ['b', '/skills', { skills: [] }],
] as const)(
  'Profile %s: GET %s of a gateway that has none is an empty list',
  async (profile, path, expected) => {
    const { status, body } = await gateway[profile].get(path);
    expect(status).toBe(200);
    expect(body).toEqual(expected);
  },
);

test.each([
  ['a', '/plugins/weather/enable'],
  ['a', '/plugins/weather/disable'],
  ['b', '/plugins/weather/reload'],
  ['b', '/plugins/weather/disable'],
  ['b', '/mcp/files/reconnect'],
] as const)('Profile %s: POST %s of an unknown name is 404 not_found', async (profile, path) => {
  const { status, body } = await gateway[profile].post<{ error: { code: string } }>(path);
  expect(status).toBe(404);
  expect(body.error.code).toBe('not_found');
});
