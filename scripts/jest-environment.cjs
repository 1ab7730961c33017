const vm = require('node:vm');
const { PerformanceObserver } = require('node:perf_hooks');
const { TestEnvironment } = require('jest-environment-node');

const compileFunction = vm.compileFunction;
/** What this worker has compiled, by file; a file that reads otherwise now is compiled anew. */
const compiled = new Map();

/**
 * Node's environment, in which a module is compiled once for each worker and not once for each spec file: compiling what the
 * gateway consists of is a third of what loading it costs. Every spec file still runs it anew, in a context of its own.
 */
vm.compileFunction = (code, parameters, options) => {
  if (!options?.parsingContext || isSpec(options.filename)) return compileFunction(code, parameters, options);
  const head = `(function (${parameters.join(', ')}) {`;
  const known = compiled.get(options.filename);
  const isKnown = known?.code === code && known.head === head;
  const script = isKnown ? known.script : compile(head, code, options.filename);
  if (!isKnown) compiled.set(options.filename, { code, head, script });
  return script.runInContext(options.parsingContext);
};

/** The function's head stands before the first column, so that stack traces name the places of the source. */
function compile(head, code, filename) {
  return new vm.Script(`${head}${code}\n})`, { filename, columnOffset: -head.length });
}

/** Runs once in any case. */
function isSpec(filename) {
  return filename.endsWith('.spec.ts');
}

const observe = PerformanceObserver.prototype.observe;
/** Observers of this worker's spec file. */
const observers = new Set();
PerformanceObserver.prototype.observe = function (...options) {
  observers.add(this);
  return observe.apply(this, options);
};

/**
 * Lets go of what a spec file's libraries leave in the worker, outside of its context: TypeORM's list of entities, and observers of
 * the garbage collector. Each would keep the whole file, 30 MB, and a worker would grow to gigabytes.
 */
module.exports = class extends TestEnvironment {
  async teardown() {
    delete globalThis.typeormMetadataArgsStorage;
    for (const observer of observers) observer.disconnect();
    observers.clear();
    await super.teardown();
  }
};
