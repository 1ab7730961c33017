import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

/** In whose place `bin/bundle-loader.cjs` gives what. */
const DEFINED = {
  'import.meta.url': '$url',
  'import.meta.filename': '__filename',
  'import.meta.dirname': '__dirname',
  'import.meta.resolve': '$resolve',
};

/**
 * Makes a script of a module of the bundle: Node takes compiled code for scripts alone. Comments and indentation go, since the
 * text of what is loaded stays in memory; lines stay short, so that a crash prints a short one.
 */
async function scriptOf(text) {
  const late = text
    .replaceAll(/\bimport\("(\.\/[^"]+)"\)/g, '$load("$1")')
    // Code that is compiled already has no way to import: what Node brings is required.
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
  // Nothing but the bundle asks for these: their exports need no copy.
  return `"use strict";${code.replace(/module\.exports\s*=\s*__toCommonJS\(\s*(\w+)\s*\);/, 'module.exports=$1;')}`;
}

/** What Node starts: a thread begins with a file of its own. */
const entryOf = (name) => `require('../../bin/bundle-loader.cjs').load('${name}');\n`;

/**
 * Writes the modules of a bundle as scripts, with their compiled code beside them. `programs` are those that run by being
 * loaded: each is started through `<name>.cjs`.
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
    // Options of Node's for the build are none of the program's.
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The code of the bundle could not be compiled.');
}

/** Compiles the scripts: what a script does when it is loaded, too; the rest is compiled when it is called. */
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

/** Loads a script, if it is not one that says that a package is not installed (`scripts/bundle.mjs`). */
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
