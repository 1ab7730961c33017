// Runs other people's clients and checkers against the API documents and a running gateway; see docs/testing.md.
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { DRIVERS } from './clients/drivers.mjs';
import { startGateway } from './clients/gateway.mjs';
import { installed } from './clients/install.mjs';
import { drive, judgesOf, linters, startPrism } from './clients/judges.mjs';
import { planOf } from './clients/plan.mjs';
import { refusedThrough } from './clients/refusals.mjs';

const SOURCE = resolve('test/clients');
const KINDS = ['openapi', 'asyncapi'];

/** The folder with the tools and the code that they generate. */
async function install() {
  const folder = await installed(SOURCE, 'agent-gateway-clients', ['node']);
  // The tools run on the Node from npm, which some of them need. The gateway and the generated clients run on the
  // Node of this process.
  process.env.PATH = `${join(folder, 'node_modules/node/bin')}${delimiter}${process.env.PATH}`;
  await rm(join(folder, 'gen'), { recursive: true, force: true });
  await mkdir(join(folder, 'gen'));
  await copyFile(join(SOURCE, 'prelude.ts'), join(folder, 'gen/prelude.ts'));
  return folder;
}

let failed = 0;
async function judge(name, work) {
  const startedAt = Date.now();
  try {
    const said = await work();
    console.log(
      `ok      ${name}${typeof said === 'string' ? `: ${said}` : ''} (${Date.now() - startedAt} ms)`,
    );
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.message}`);
  }
}

async function judgeProfile(profile, folder, gateway) {
  const target = `http://127.0.0.1:${gateway.ports[profile]}`;
  for (const kind of KINDS) {
    const document = await (await fetch(`${target}/${kind}.json`)).text();
    await writeFile(join(folder, `${profile}.${kind}.json`), document);
  }
  const plan = planOf(JSON.parse(await readFile(join(folder, `${profile}.openapi.json`), 'utf8')));
  for (const [name, work] of Object.entries(judgesOf(profile, folder, plan)))
    await judge(`Profile ${profile}: ${name}`, async () => void (await work()));
  for (const client of Object.keys(DRIVERS)) {
    await judge(`Profile ${profile}: ${client} calls every operation`, async () => {
      const { calls } = JSON.parse(await drive(client, profile, folder, target, gateway.token));
      if (calls !== plan.length) throw new Error(`${calls} of ${plan.length} operations were called.`);
      return `${calls} operations`;
    });
  }
  await judgeThroughPrism(profile, folder, target, gateway.token);
}

/** The operators' API is only linted: its clients are the console and the command line. */
async function judgeOperators(folder, gateway) {
  const document = 'admin.openapi.json';
  const answer = await fetch(`http://127.0.0.1:${gateway.ports.a}/admin/v1/openapi.json`);
  await writeFile(join(folder, document), await answer.text());
  for (const [name, work] of Object.entries(linters(folder, document)))
    await judge(`Operators' API: ${name}`, async () => void (await work()));
}

async function judgeThroughPrism(profile, folder, target, token) {
  const prism = await startPrism(profile, folder, target);
  await judge(`Profile ${profile}: Prism finds every request and answer as documented`, async () => {
    // Prism passes a response on only when it is complete, so an endless stream never arrives.
    const said = await drive('openapi-fetch', profile, folder, prism.url, token, { SKIP: 'logs_stream' });
    const problems = await refusedThrough(prism.url, token);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return `${JSON.parse(said).calls} operations, 0 violations`;
  });
  await prism.stop();
}

const folder = await install();
const gateway = await startGateway();
try {
  for (const profile of ['a', 'b']) await judgeProfile(profile, folder, gateway);
  await judgeOperators(folder, gateway);
} finally {
  await gateway.stop();
}
console.log(failed === 0 ? 'all judges agree' : `${failed} judges found fault`);
process.exitCode = failed === 0 ? 0 : 1;
