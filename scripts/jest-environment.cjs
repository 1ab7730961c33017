const vm = require('node:vm');
const perfHooks = require('node:perf_hooks');
const { TestEnvironment } = require('jest-environment-node');
const { WARNED } = require('./jest-warned.cjs');

const { PerformanceObserver } = perfHooks;
const compileFunction = vm.compileFunction;
/** Modules that this worker has compiled, by file. A file whose text has changed is compiled again. */
const compiled = new Map();

/**
 * Node's environment, but each worker compiles a module only once instead of once for each spec file: compiling is a
 * third of the time that loading the gateway takes. Every spec file still runs the modules in its own context.
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

/**
 * The head of the wrapper function is placed before the first column, so that stack traces have the right positions.
 */
function compile(head, code, filename) {
  return new vm.Script(`${head}${code}\n})`, { filename, columnOffset: -head.length });
}

/** A spec file runs only once, so its code need not be kept. */
function isSpec(filename) {
  return filename.endsWith('.spec.ts');
}

/** The first word of the message with which Jest tells a worker to end. */
const END = 2;

/**
 * Jest kills a worker that takes longer than half a second to end, and says that it failed to exit gracefully. By itself
 * one with 850 MB takes 0.2 s on a busy machine, and longer when it collects garbage first, so it ends itself as soon as
 * nothing holds it. What still does is said before Jest kills it.
 */
if (process.env.JEST_WORKER_ID !== undefined && process.send !== undefined) {
  process.once('beforeExit', endNow);
  process.on('message', endUnlessHeld);
}

function endNow() {
  process.kill(process.pid, 'SIGKILL');
}

function endUnlessHeld([kind]) {
  if (kind !== END) return;
  // The listener itself would hold it.
  process.removeListener('message', endUnlessHeld);
  if (held().length === 0) endNow();
  setTimeout(() => {
    process.stderr.write(`Worker ${process.env.JEST_WORKER_ID} is held by: ${held().join(', ')}\n`);
  }, 300).unref();
}

/** What keeps the process alive beside the pipes to its parent. */
function held() {
  return process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
}

/** What this worker's spec file has started in Node itself, outside its context. */
const begun = { observers: new Set(), histograms: new Set(), timers: new Set() };

const observe = PerformanceObserver.prototype.observe;
PerformanceObserver.prototype.observe = function (...options) {
  begun.observers.add(this);
  return observe.apply(this, options);
};

const { monitorEventLoopDelay } = perfHooks;
perfHooks.monitorEventLoopDelay = (options) => {
  const histogram = monitorEventLoopDelay(options);
  begun.histograms.add(histogram);
  return histogram;
};

/** Node gives no way to clear these timers. */
AbortSignal.timeout = (ms) => {
  const controller = new AbortController();
  const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  begun.timers.add(setTimeout(() => controller.abort(reason()), ms).unref());
  return controller.signal;
};

const MOST_WARNINGS = 12;
const isWarning = (line) => /"level":"(warn|error)"/.test(line);

/** Shorter timers end soon enough by themselves. */
const LONG_MS = 10_000;

/**
 * Releases what a spec file's libraries leave in the worker, outside their context: TypeORM's list of entities,
 * observers of the garbage collector, histograms of the event loop, and timers that nobody clears. Each of these
 * would keep the whole context (30 MB), and a worker would grow to gigabytes.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.before = [process.stdout, process.stderr].map((stream) => [stream, stream.listeners('error')]);
    const { setInterval, setTimeout } = this.global;
    this.global.setInterval = noting(setInterval, () => true);
    this.global.setTimeout = noting(setTimeout, (ms) => ms >= LONG_MS);
  }

  /** A test that fails says what its gateways warned of, since a failure that comes once cannot be looked into later. */
  handleTestEvent({ name, test }) {
    if (name !== 'test_done' || test.errors.length === 0) return;
    // A time-out has only the error of its place.
    const failure = [test.errors[0]].flat().find((error) => typeof error?.stack === 'string');
    if (failure === undefined) return;
    const warned = (this.global.gatewayLogs ?? [])
      .flatMap((lines) => lines.filter(isWarning))
      .slice(-MOST_WARNINGS);
    if (warned.length > 0) failure.stack += ['', WARNED, ...warned.map((line) => line.trim())].join('\n');
  }

  async teardown() {
    delete globalThis.typeormMetadataArgsStorage;
    for (const [stream, listeners] of this.before) removeOthers(stream, listeners);
    for (const observer of begun.observers) observer.disconnect();
    for (const histogram of begun.histograms) forget(histogram);
    for (const timer of begun.timers) clearTimeout(timer);
    for (const things of Object.values(begun)) things.clear();
    await super.teardown();
  }
};

/** The same function; long timers are recorded. */
function noting(begin, isNoted) {
  const noted = (callback, ms, ...values) => {
    const timer = begin(callback, ms, ...values);
    if (isNoted(ms)) begun.timers.add(timer);
    return timer;
  };
  return Object.defineProperties(noted, Object.getOwnPropertyDescriptors(begin));
}

function removeOthers(stream, listeners) {
  for (const listener of stream.rawListeners('error'))
    if (!listeners.includes(listener.listener ?? listener)) stream.removeListener('error', listener);
}

/** A histogram cannot be closed, but its reference to the context that created it can be removed. */
function forget(histogram) {
  histogram.disable();
  for (const symbol of Object.getOwnPropertySymbols(histogram))
    if (typeof histogram[symbol] === 'object') delete histogram[symbol];
}
