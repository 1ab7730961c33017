import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

/** ES module expressions, and what replaces them in a script; `bin/bundle-loader.cjs` provides the values. */
const DEFINED = {
  'import.meta.url': '$url',
  'import.meta.filename': '__filename',
  'import.meta.dirname': '__dirname',
  'import.meta.resolve': '$resolve',
};

/**
 * Turns a module of the bundle into a script, because Node caches compiled code only for scripts. Comments and
 * indentation are removed, since the text of loaded scripts stays in memory. Lines are kept short, so that a crash
 * prints only a short one.
 */
async function scriptOf(text) {
  const late = text
    .replaceAll(/\bimport\("(\.\/[^"]+)"\)/g, '$load("$1")')
    // Cached code cannot call `import()`, so built-in modules are required instead.
    .replaceAll(/\bimport\("([\w:/]+)"\)/g, (asked, name) =>
      isBuiltin(name) ? `Promise.resolve(require("${name}"))` : asked,
    );
  const { code } = await transform(late.replaceAll(/"(\.\/[\w.-]+)\.mjs"/g, '"$1.cjs"'), {
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    define: DEFINED,
    minifyWhitespace: true,
    lineLimit: 160,
    legalComments: 'none',
  });
  // Only the bundle itself requires these, so their exports need no copy.
  return `"use strict";${code.replace(/module\.exports\s*=\s*__toCommonJS\(\s*(\w+)\s*\);/, 'module.exports=$1;')}`;
}

/** A file that Node can start: each thread needs one of its own. */
const entryOf = (name) => `require('../../bin/bundle-loader.cjs').load('${name}');\n`;

/**
 * Writes the modules of a bundle as scripts, with their compiled code beside them. `programs` are modules that run
 * when they are loaded; each is started through `<name>.cjs`.
 */
export async function writeScripts(folder, modules, programs) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await Promise.all(
    Object.entries(modules).map(async ([path, text]) => {
      const name = basename(path, '.mjs');
      const isProgram = programs.includes(name);
      writeFileSync(join(folder, isProgram ? `${name}-program.cjs` : `${name}.cjs`), await scriptOf(text));
      if (isProgram) writeFileSync(join(folder, `${name}.cjs`), entryOf(`${name}-program.cjs`));
    }),
  );
  const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), folder, ...programs], {
    // The Node options of the build are not meant for the program.
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The code of the bundle could not be compiled.');
}

/**
 * Compiles the scripts, including the functions that run while they load. Other functions are compiled when they are
 * called.
 */
function writeCode(folder, programs) {
  const require = createRequire(import.meta.url);
  const vm = require('node:vm');
  const compiled = new Map();
  vm.Script = class extends vm.Script {
    constructor(source, options) {
      super(source, options);
      compiled.set(options.filename, this);
    }
  };
  const { compile, load } = require('../bin/bundle-loader.cjs');
  const loadPresent = present(load);
  for (const name of readdirSync(folder)) {
    if (programs.includes(basename(name, '.cjs'))) continue;
    else if (name.endsWith('-program.cjs')) compile(name);
    else loadPresent(name);
  }
  for (const [filename, script] of compiled) {
    writeFileSync(filename.replace(/cjs$/, 'code'), script.createCachedData());
  }
}

/** Loads a script, unless it only reports that a package is not installed (`scripts/bundle.mjs`). */
function present(load) {
  return (name) => {
    try {
      load(name);
    } catch (error) {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    }
  };
}

const [, program, ...args] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  writeCode(args[0], args.slice(1));
  process.exit();
}
