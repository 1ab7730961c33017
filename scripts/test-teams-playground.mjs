// Runs Microsoft's playground for Teams bots against a gateway, driven in Chromium; see docs/testing.md.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { chromium } from 'playwright-core';
import { freePort, startGateway } from './clients/gateway.mjs';
import { installed } from './clients/install.mjs';

const APP = '11111111-2222-3333-4444-555555555555';
const ISSUER = 'https://connector.example.com';
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const LIMIT_MS = 90_000;
/** Lines as a model writes them, and as people must see them. */
const LINES = [
  ['set ANTHROPIC_API_KEY or OPENAI_API_KEY', 'set ANTHROPIC_API_KEY or OPENAI_API_KEY'],
  ['a **bold** word, *slanted*, ~~struck~~, `co_de`', 'a bold word, slanted, struck, co_de'],
  ['2 * 3 * 4 and \\*starred\\* and \\_\\_init\\_\\_', '2 * 3 * 4 and *starred* and __init__'],
  [
    '1 < 2 & 3 > 2, R&D, &amp;amp; and List<b> and <at>all</at>',
    '1 < 2 & 3 > 2, R&D, &amp; and List<b> and <at>all</at>',
  ],
  [
    'C:\\new\\file, a|b, [sic], ~5, #1 and \\# not a heading',
    'C:\\new\\file, a|b, [sic], ~5, #1 and # not a heading',
  ],
  ['[a page](https://example.com/a_b)', 'a page'],
  ['1990\\. A year', '1990. A year'],
];

const folder = await installed(resolve('test/teams-playground'), 'agent-gateway-teams-playground');
const { privateKey, publicKey } = await generateKeyPair('RS256');
const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig', endorsements: ['msteams'] };
const posted = [];
let gateway;

/** The playground sends no connector token and has no sign-in. This server adds both, as Microsoft does. */
const between = createServer((request, response) => void answered(request, response));
await new Promise((done) => between.listen(0, '127.0.0.1', done));
const own = `http://127.0.0.1:${between.address().port}`;

async function answered(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const json = (status, value) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (request.url === '/openid') return json(200, { issuer: ISSUER, jwks_uri: `${own}/keys` });
  if (request.url === '/keys') return json(200, { keys: [jwk] });
  if (request.url === '/v1/chat/completions') return said(response);
  if (request.url.endsWith('/oauth2/v2.0/token'))
    return json(200, { token_type: 'Bearer', expires_in: 3600, access_token: 'a.token.of-nobody' });
  const body = Buffer.concat(chunks);
  // The playground probes the URL before it posts.
  if (request.method !== 'POST' || body.length === 0) return json(200, {});
  const activity = JSON.parse(body.toString('utf8'));
  const claims = { iss: ISSUER, aud: APP, serviceurl: activity.serviceUrl };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(privateKey);
  const answer = await fetch(`http://127.0.0.1:${gateway.ports.b}/inbound/teams/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body,
  });
  posted.push(`${activity.type} ${answer.status}`);
  return json(answer.status, await answer.json());
}

/** A model that answers with these lines. */
function said(response) {
  const chunk = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const content = LINES.map(([written]) => written).join('\n\n');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ role: 'assistant', content })}${chunk({}, 'stop')}data: [DONE]\n\n`);
}

const settings = `
[provider]
kind = "openai"
base_url = "${own}/v1"
model = "m"

[channels_config.teams]
type = "teams"
app_id = "${APP}"
app_secret = "nobody knows it"
login_url = "${own}"
openid_url = "${own}/openid"
issuer = "${ISSUER}"
allowed_users = ["*"]

[security]
allow_loopback = "always"
`;

let playground;
let browser;
try {
  gateway = await startGateway(settings);
  const port = await freePort();
  const cli = join(folder, 'node_modules/@microsoft/m365agentsplayground/cli.js');
  const options = ['start', '-e', `${own}/api/messages`, '-c', 'msteams', '-p', String(port), '--dt'];
  playground = spawn(process.execPath, [cli, ...options], { cwd: folder, stdio: 'ignore' });
  await until(async () => (await fetch(`http://127.0.0.1:${port}/`)).ok);
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  const box = page.locator('[contenteditable="true"], textarea').first();
  await box.waitFor({ timeout: LIMIT_MS });
  await box.click();
  await page.keyboard.type('heliotrope, **bold** and `code`?');
  await page.keyboard.press('Enter');
  await until(async () => posted.includes('message 200'));
  await page
    .getByText(/A year/)
    .first()
    .waitFor({ timeout: LIMIT_MS });
  const shown = (await page.locator('body').innerText()).split('\n').map((line) => line.trim());
  const missing = LINES.filter(([, read]) => !shown.includes(read));
  for (const [, read] of LINES)
    console.log(`${shown.includes(read) ? 'ok     ' : 'FAILED '} people read: ${read}`);
  if (missing.length > 0) throw new Error(`the page shows ${JSON.stringify(shown.slice(-30))}`);
} catch (error) {
  console.log(`FAILED  ${error.message}; posted: ${posted.join(', ')}`);
  process.exitCode = 1;
} finally {
  await browser?.close();
  playground?.kill();
  await gateway?.stop();
  between.close();
}

async function until(check) {
  const end = Date.now() + LIMIT_MS;
  for (;;) {
    if (await check().catch(() => false)) return;
    if (Date.now() > end) throw new Error('it takes too long');
    await new Promise((next) => setTimeout(next, 200));
  }
}
