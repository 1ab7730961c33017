import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CompiledScript, RunCounts } from './compiled-script.mjs';
import { armsOf } from './source-arms.mjs';

const NO_SOURCE = /\.spec\.ts$|\.d\.ts$|^src\/database\/migrations\//;

/** How often each arm of every branch in `src` was taken, over all processes of a run. */
export class BranchLedger {
  #root;
  /** By the path of the source: its text, its arms, and how often each was taken. */
  files = new Map();
  /** Arms that no compiled text has a place for. */
  unplaced = new Set();
  #compiled = new Map();

  constructor(root) {
    this.#root = root;
    for (const path of readdirSync(join(root, 'src'), { recursive: true })) {
      const file = join('src', path);
      if (!file.endsWith('.ts') || NO_SOURCE.test(file)) continue;
      const text = readFileSync(join(root, file), 'utf8');
      const arms = armsOf(file, text);
      this.files.set(file, { text, arms, taken: arms.map(() => 0) });
    }
  }

  /** What one test file ran in Jest's own process, as Jest hands it to reporters. */
  addJest(v8Coverage) {
    for (const { codeTransformResult: compiled, result } of v8Coverage) {
      const file = relative(this.#root, result.url);
      if (!this.files.has(file) || !compiled?.sourceMapPath) continue;
      const key = `${file} ${compiled.sourceMapPath}`;
      const script = this.#script(key, file, compiled.code, compiled.sourceMapPath);
      this.#add(file, script, new RunCounts(result.functions), compiled.wrapperLength ?? 0);
    }
  }

  /** What processes and threads of the build wrote on their end; their files are removed. */
  addProcesses(folder) {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const path = join(folder, name);
      const written = readWhole(path);
      if (written === undefined) continue;
      for (const { url, functions } of written.result) {
        if (!url.startsWith('file://')) continue;
        const built = fileURLToPath(url);
        const file = relative(join(this.#root, 'dist'), built).replace(/\.js$/, '.ts');
        if (!this.files.has(file) || !existsSync(`${built}.map`)) continue;
        const script = this.#script(built, file, readFileSync(built, 'utf8'), `${built}.map`);
        this.#add(file, script, new RunCounts(functions), 0);
      }
      rmSync(path);
    }
  }

  /** Adds what an earlier part of the same suite found. */
  addEarlier(counts) {
    for (const [file, earlier] of Object.entries(counts)) {
      const known = this.files.get(file);
      if (known === undefined || known.taken.length !== earlier.length) continue;
      earlier.forEach((count, i) => {
        known.taken[i] += count;
      });
    }
  }

  toJSON() {
    return Object.fromEntries([...this.files].map(([file, { taken }]) => [file, taken]));
  }

  #script(key, file, code, mapPath) {
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const map = JSON.parse(readFileSync(mapPath, 'utf8'));
    const script = new CompiledScript(code, map, this.files.get(file).text);
    this.#compiled.set(key, script);
    return script;
  }

  #add(file, script, counts, shift) {
    const { arms, taken } = this.files.get(file);
    const countAt = (span) => {
      const place = script.placeOf(span);
      return place === undefined ? undefined : counts.at(place + shift);
    };
    for (const [i, { at, less, line }] of arms.entries()) {
      const count = countAt(at);
      if (count === undefined) this.unplaced.add(`${file}:${line}`);
      else taken[i] += Math.max(0, count - (less === undefined ? 0 : (countAt(less) ?? count)));
    }
  }
}

/** Undefined for what a process has not finished writing. */
function readWhole(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
