import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { writeScripts } from './bundle-scripts.mjs';

/** The files that Node starts: the command line, and the programs of the two kinds of threads. */
const ENTRIES = {
  'agent-gateway': 'command-line.js',
  'schema-thread': 'areas/tools/schemas/schema-thread-main.js',
  'plugin-thread': 'areas/plugins/thread/plugin-thread-main.js',
};
/** Programs that run when they are loaded. */
const PROGRAMS = ['schema-thread', 'plugin-thread'];
/**
 * Libraries that others load by a computed name (Nest's `loadPackage`, TypeORM's drivers). They get the bundled copy,
 * because a second copy would not know what was registered with the first.
 */
const ASKED_FOR_BY_NAME = ['class-transformer', 'class-validator', 'pg', 'typeorm', '@nestjs/typeorm'];

const registry = `Symbol.for('agent-gateway.bundled')`;
const asked = ASKED_FOR_BY_NAME.map((name) => `'${name}': () => require('${name}')`).join(', ');

/** Marks look-ups made by this plugin, so that it does not answer them itself. */
const ASKED = Symbol('asked');

/** Whether Node would load the file as CommonJS. */
function isCommonJs(file, folder = dirname(file)) {
  if (file.endsWith('.cjs')) return true;
  if (!file.endsWith('.js')) return false;
  const manifest = join(folder, 'package.json');
  if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8')).type !== 'module';
  return isCommonJs(file, dirname(folder));
}

const bundledCopies = {
  name: 'bundled-copies',
  setup({ onLoad, onResolve, resolve }) {
    // Nest's packages are ES modules that create their own `require`, which would bypass the bundle. They get the
    // bundle's.
    onLoad({ filter: /[/\\]@nestjs[/\\].*\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.includes('createRequire(import.meta.url)')) return undefined;
      const withoutOwn = text.replace(
        /^(const|let|var) require = createRequire\(import\.meta\.url\);?$/m,
        '',
      );
      return { contents: withoutOwn.replaceAll('createRequire(import.meta.url)', 'require') };
    });
    onLoad({ filter: /[/\\]dist[/\\]src[/\\]app\.module\.js$/ }, async ({ path }) => ({
      contents: `import 'bundled:libraries';\n${await readFile(path, 'utf8')}`,
    }));
    onResolve({ filter: /^bundled:libraries$/ }, ({ path }) => ({
      path,
      namespace: 'bundled',
      sideEffects: true,
    }));
    onLoad({ filter: /.*/, namespace: 'bundled' }, () => ({
      contents: `globalThis[${registry}] = { ${asked} };`,
      resolveDir: import.meta.dirname,
    }));
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === ASKED) return undefined;
      const found = await resolve(path, { ...from, pluginData: ASKED });
      // Optional drivers and transports that are not installed: loading one throws "Cannot find package". The bundle
      // throws it itself, because from Node 22 on Node warns about each `import('…')` from cached code.
      if (found.errors.length > 0)
        return from.kind === 'dynamic-import' ? { path, namespace: 'absent' } : { path, external: true };
      return from.kind === 'dynamic-import' && isCommonJs(found.path)
        ? { path: found.path, namespace: 'named' }
        : undefined;
    });
    onLoad({ filter: /.*/, namespace: 'absent' }, ({ path }) => ({
      contents: `throw Object.assign(new Error(${JSON.stringify(`Cannot find package '${path}'`)}), { code: 'ERR_MODULE_NOT_FOUND' });`,
    }));
    // `import('…')` of CommonJS gives the same named exports as in Node; esbuild alone gives only `default`.
    onLoad({ filter: /.*/, namespace: 'named' }, async ({ path }) => {
      const names = Object.keys(await import(pathToFileURL(path).href)).filter((name) =>
        /^[\w$]+$/.test(name),
      );
      const named = names.filter((name) => name !== 'default').join(', ');
      const contents = `import * as all from ${JSON.stringify(path)};
        export default all.default; export const { ${named} } = all;`;
      return { contents, resolveDir: dirname(path) };
    });
  },
};

/**
 * esbuild names every function again each time it is created, including closures and callbacks. That took a quarter
 * of a request's processor time. Only classes keep their names this way, once each, because errors, logs and Nest use
 * them.
 */
function nameOnlyClasses(text) {
  return text
    .replaceAll('/* @__PURE__ */ __name(', '$same(')
    .replaceAll(/^[ ]*__name\((?!this,)[\w$]+, "[^"]*"\);$/gm, '');
}

/**
 * Bundles the compiled program and its libraries into a few files under `dist/bundle`: a start reads some eighty
 * files instead of four thousand. Class names are kept for stack traces and Nest's tokens.
 */
export async function bundle(root) {
  const compiled = join(root, 'dist', 'src');
  const outdir = join(root, 'dist', 'bundle');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: Object.entries(ENTRIES).map(([out, file]) => ({ in: join(compiled, file), out })),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    keepNames: true,
    legalComments: 'none',
    plugins: [bundledCopies],
    write: false,
    logLevel: 'error',
  });
  const modules = Object.fromEntries(outputFiles.map(({ path, text }) => [path, nameOnlyClasses(text)]));
  if (!Object.values(modules).some((text) => text.includes('__name(this,')))
    throw new Error('The bundler names classes in another way than this script knows.');
  await writeScripts(outdir, modules, PROGRAMS);
}
