import { rm } from 'node:fs/promises';
import pg from 'pg';

/** Drops the databases and stops the server. */
export default async function teardown() {
  await globalThis.gatewayTestPooler?.stop();
  const { address, template } = JSON.parse(process.env.GATEWAY_TEST_SERVER ?? '{}');
  if (address?.url) {
    const client = new pg.Client({ connectionString: address.url });
    await client.connect();
    await client.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
    await client.end();
  }
  await globalThis.gatewayTestServer?.close();
  if (globalThis.gatewayTestDataDir)
    await rm(globalThis.gatewayTestDataDir, { recursive: true, force: true });
}
