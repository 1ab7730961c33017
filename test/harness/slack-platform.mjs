// Runs `emulate` as a separate process: it is an ES module, and Jest runs CommonJS. Exits with its parent.
import { createServer } from 'node:http';
import { createEmulator } from 'emulate';

process.once('disconnect', () => process.exit(0));
process.once('message', async (slack) => {
  const port = await freePort();
  await createEmulator({ service: 'slack', port, seed: { slack } });
  process.send({ url: `http://127.0.0.1:${port}` });
});

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
