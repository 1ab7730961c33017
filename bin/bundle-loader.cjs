const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { setFlagsFromString } = require('node:v8');
const { constants, Script } = require('node:vm');

/**
 * By default V8 lets the garbage of a busy gateway grow to several times the memory in use before it collects. A lower
 * percentage saves memory and costs processor time; docs/performance.md has the figures. V8 takes compiled code only from a
 * process with the same flags, so they are set before anything is loaded.
 */
setFlagsFromString('--heap-growing-percent=100');

const FOLDER = join(__dirname, '..', 'dist', 'bundle');
/** Libraries that are asked for by a name that is no literal: `scripts/bundle.mjs` says which. */
const BUNDLED = Symbol.for('agent-gateway.bundled');
/** What every script of the bundle can use beside what Node has; `scripts/bundle-scripts.mjs` writes them in these words. */
const PARAMETERS = 'exports, require, module, __filename, __dirname, $url, $resolve, $load, $same';

const installed = createRequire(join(FOLDER, 'agent-gateway.cjs'));
const modules = new Map();

/** Compiles a script of the bundle, from the code that the build has compiled already where this Node accepts it. */
function compile(name) {
  const filename = join(FOLDER, name);
  const source = `(function (${PARAMETERS}) {${readFileSync(filename, 'latin1')}\n})`;
  return new Script(source, {
    filename,
    cachedData: codeOf(name),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}

/** The compiled code of a script; undefined for one that has none. */
function codeOf(name) {
  try {
    return readFileSync(join(FOLDER, name.replace(/cjs$/, 'code')));
  } catch {
    return undefined;
  }
}

/** Runs a script of the bundle, once. @returns what it exports */
function load(name) {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  try {
    const filename = join(FOLDER, name);
    const run = compile(name).runInThisContext();
    const url = pathToFileURL(filename).href;
    run(module.exports, requireBundled, module, filename, FOLDER, url, resolve, loadLate, same);
  } catch (error) {
    // What is loaded late may fail for want of files or memory: the next one who needs it tries again, and gets all of it.
    modules.delete(name);
    throw error;
  }
  return module.exports;
}

/** `require` for the bundle: first what is in it, then what is installed. */
const requireBundled = Object.assign(
  (name) =>
    name.startsWith('./') ? load(name.slice(2)) : (globalThis[BUNDLED]?.[name] ?? (() => installed(name)))(),
  installed,
);

const resolve = (name) => pathToFileURL(installed.resolve(name)).href;
const loadLate = async (name) => load(name.slice(2));
const same = (it) => it;

module.exports = { compile, load };
