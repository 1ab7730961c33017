// Runs the newest conformance suite of the protocol against the gateway as a client, and writes the table in
// docs/mcp.md; see docs/testing.md.
import { spawn, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startGateway } from './clients/gateway.mjs';
import { installed } from './clients/install.mjs';
import { notApplicableReason } from './tool-servers/scenarios.mjs';

const PAGE = resolve('docs/mcp.md');
const CLIENT = resolve('test/harness/conformance-client.mjs');
const LIMIT_MS = 45_000;
const BEGIN = '<!-- client scenarios: written by npm run test:client-judge -->';
const END = '<!-- end of client scenarios -->';

const folder = await installed(resolve('test/tool-servers'), 'agent-gateway-tool-servers', ['node']);
const judge = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
// The suite needs Node 22.
const node = join(folder, 'node_modules/node/bin/node');
const listed = spawnSync(node, [judge, 'list'], { encoding: 'utf8' }).stdout;
const [, ofClients = ''] = listed.split('Client scenarios');
const scenarios = [...ofClients.split('Authorization server')[0].matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)];
const only = process.argv.slice(2);

const secrets = {
  JUDGE_SECRET: 'conformance-test-secret',
  JUDGE_PRE_REGISTERED_SECRET: 'pre-registered-secret',
  JUDGE_CROSS_APP_SECRET: 'conformance-test-xaa-secret',
  // Sign-ins redirect the browser to this URL; the client that the suite starts replaces it with the gateway's port.
  GATEWAY__GATEWAY__PUBLIC_URL: 'http://gateway.localhost',
};
const more =
  '\n[security]\nallow_private_networks = ["127.0.0.0/8"]\n\n[security.sandbox]\nbackend = "none"\n';
const gateway = await startGateway(more, secrets);

/** @returns the last lines of the suite's output */
function judged(scenario) {
  const args = [judge, 'client', '--command', `${process.execPath} ${CLIENT}`, '--scenario', scenario];
  const child = spawn(node, [...args, '--output-dir', join(folder, 'judged')], {
    env: {
      PATH: process.env.PATH,
      CONFIG_FILE: gateway.file,
      CONFIG_BASE: `${gateway.settings}${more}`,
      GATEWAY_A: `http://127.0.0.1:${gateway.ports.a}/api/v1`,
      GATEWAY_TOKEN: gateway.token,
    },
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-20_000);
    });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  return new Promise((done) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      done({ code, said });
    });
  });
}

let failed = 0;
const rows = [];
try {
  for (const [, scenario, versions] of scenarios) {
    if (only.length > 0 && !only.includes(scenario)) continue;
    const reason = notApplicableReason(scenario);
    if (reason !== undefined) {
      rows.push(`| \`${scenario}\` | ${versions} | not tried: ${reason} |`);
      continue;
    }
    const { code, said } = await judged(scenario);
    const [counted, passed] = /Passed: ([1-9]\d*\/\d+), 0 failed/.exec(said) ?? [];
    if (code === 0 && counted !== undefined)
      rows.push(`| \`${scenario}\` | ${versions} | passes (${passed}) |`);
    else failed += 1;
    console.log(
      code === 0 && counted ? `ok      ${scenario}` : `FAILED  ${scenario} (${code})\n${said.slice(-1500)}`,
    );
  }
} finally {
  await gateway.stop();
}
if (failed === 0 && only.length === 0) {
  const page = await readFile(PAGE, 'utf8');
  const [before, rest = ''] = page.split(BEGIN);
  const head = '| Scenario | Versions | The gateway |\n|---|---|---|';
  await writeFile(PAGE, `${before}${BEGIN}\n${head}\n${rows.join('\n')}\n${END}${rest.split(END)[1]}`);
}
process.exitCode = failed === 0 ? 0 : 1;
