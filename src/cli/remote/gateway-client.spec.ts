import { GatewayClient } from './gateway-client.js';

test('what a gateway says about a refusal cannot control the terminal', async () => {
  const answer = Response.json({ error: { message: 'No\u001b[2J,\nnever\u202e.' } }, { status: 403 });
  jest.spyOn(globalThis, 'fetch').mockResolvedValueOnce(answer);
  const client = new GatewayClient({ url: 'http://gateway.test', token: undefined });
  await expect(client.get('/api/v1/logs')).rejects.toMatchObject({
    message: 'No?[2J, never?.',
    status: 403,
  });
});
