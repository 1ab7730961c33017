import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DRIVERS, driverSource } from './drivers.mjs';
import { freePort } from './gateway.mjs';
import { run, start } from './run.mjs';

const SPECTRAL = 'extends: ["spectral:oas"]\n';
const TYPESCRIPT = {
  compilerOptions: {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['gen/**/*.ts'],
};
/** By default swagger-typescript-api types base64 as a Blob, which cannot be sent as JSON. */
const BASE64 =
  'export default { primitiveTypeConstructs: (known) => ({ string: { ...known.string, byte: "string" } }) };\n';
const ASYNCAPI = `
import { readFileSync } from 'node:fs';
import { Parser } from '@asyncapi/parser';
const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[2], 'utf8'));
const told = diagnostics.filter(({ code }) => code !== 'asyncapi-latest-version');
for (const { code, message, path } of told) console.log(code, message, path.join('.'));
process.exit(document !== undefined && told.length === 0 ? 0 : 1);
`;

/** Linters that check an OpenAPI document alone. */
export function linters(folder, document) {
  const tool = (name, args) => run(join(folder, 'node_modules/.bin', name), args, { cwd: folder });
  return {
    redocly: () => tool('redocly', ['lint', '--extends', 'recommended-strict', document]),
    spectral: async () => {
      await writeFile(join(folder, '.spectral.yaml'), SPECTRAL);
      await tool('spectral', ['lint', '--fail-severity=hint', document]);
    },
  };
}

/**
 * The checks of one profile, in the folder where the tools are installed: each has a name and a function, which
 * throws when it finds a fault.
 */
export function judgesOf(profile, folder, plan) {
  const bin = (name) => join(folder, 'node_modules/.bin', name);
  const tool = (name, args, limitMs) => run(bin(name), args, { cwd: folder, limitMs });
  const document = `${profile}.openapi.json`;
  return {
    ...linters(folder, document),
    asyncapi: async () => {
      await writeFile(join(folder, 'asyncapi.mjs'), ASYNCAPI);
      await run(process.execPath, ['asyncapi.mjs', `${profile}.asyncapi.json`], { cwd: folder });
    },
    generate: () => generate(tool, profile, folder, document),
    compile: async () => {
      for (const client of Object.keys(DRIVERS))
        await writeFile(join(folder, `gen/${client}-${profile}.ts`), driverSource(client, profile, plan));
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TYPESCRIPT));
      await tool('tsc', ['-p', 'tsconfig.json'], 300_000);
    },
  };
}

async function generate(tool, profile, folder, document) {
  await tool('openapi-typescript', [document, '-o', `gen/openapi-fetch-${profile}/schema.d.ts`]);
  await tool('openapi-ts', ['-i', document, '-o', `gen/hey-api-${profile}`, '-c', '@hey-api/client-fetch']);
  await writeFile(join(folder, 'base64.config.mjs'), BASE64);
  const into = ['-o', `gen/swagger-typescript-api-${profile}`, '-n', 'api.ts'];
  const custom = ['--custom-config', 'base64.config.mjs'];
  await tool('swagger-typescript-api', ['generate', '-p', document, ...into, ...custom]);
  const output = {
    target: `gen/orval-${profile}/api.ts`,
    client: 'fetch',
    mode: 'single',
    baseUrl: 'http://gateway.test',
  };
  const config = `module.exports = ${JSON.stringify({ api: { input: document, output } })};\n`;
  await writeFile(join(folder, `orval-${profile}.config.cjs`), config);
  await tool('orval', ['--config', `orval-${profile}.config.cjs`]);
}

/** Runs the compiled driver of a client against a gateway, or against a proxy in front of it. */
export async function drive(client, profile, folder, target, token, env = {}) {
  const bundle = `gen/${client}-${profile}.mjs`;
  const options = ['--bundle', '--format=esm', '--platform=node', `--outfile=${bundle}`];
  await run(join(folder, 'node_modules/.bin/esbuild'), [`gen/${client}-${profile}.ts`, ...options], {
    cwd: folder,
  });
  return run(process.execPath, [bundle], { cwd: folder, env: { GATEWAY: target, TOKEN: token, ...env } });
}

/**
 * Starts Prism between a caller and the gateway. It reports every request and response that does not match the
 * document.
 */
export async function startPrism(profile, folder, target) {
  const port = await freePort();
  const args = ['proxy', `${profile}.openapi.json`, target, '--port', String(port), '--host', '127.0.0.1'];
  const prism = await start(join(folder, 'node_modules/.bin/prism'), args, {
    cwd: folder,
    ready: async () => (await fetch(`http://127.0.0.1:${port}/api/v1/nowhere`)).status > 0,
  });
  return { url: `http://127.0.0.1:${port}`, stop: prism.stop };
}
