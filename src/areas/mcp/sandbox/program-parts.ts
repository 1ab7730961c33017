import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { factsOf, isFile, resolvedPath } from './paths.js';

/** How to look up a program. */
export interface SearchPath {
  /** PATH of the child. */
  readonly path: string;
  /** The folder it runs in. */
  readonly cwd: string;
}

/** The parts of an installation that its programs need; its `share` or `etc` may hold anything. */
const INSTALLED = ['bin', 'sbin', 'lib', 'lib64', 'libexec', 'pyvenv.cfg'];
/** An interpreter may itself be a script with an interpreter. */
const MAX_INTERPRETERS = 4;
const MAX_FIRST_LINE_LENGTH = 256;

/**
 * What a child must see to run this program: its installation, that of the interpreter in its first line, and so on, up to
 * four levels. Paths as named and real paths; missing ones are left out.
 */
export function programParts(
  command: string,
  search: SearchPath,
  depth = MAX_INTERPRETERS,
): readonly string[] {
  const found = programFile(command, search);
  if (found === undefined || depth === 0) return [];
  const real = resolvedPath(found)?.real ?? found;
  const interpreter = interpreterOf(real);
  const runtime = interpreter === undefined ? [] : programParts(interpreter, search, depth - 1);
  return [...installationOf(found), ...installationOf(real), ...runtime];
}

/** The file that this command starts, found as a shell would; undefined without one. */
export function programFile(command: string, { path, cwd }: SearchPath): string | undefined {
  if (command.includes('/')) return isFile(resolve(cwd, command)) ? resolve(cwd, command) : undefined;
  const files = path.split(':').map((folder) => resolve(cwd, folder, command));
  return files.find((file) => isFile(file) && isExecutable(file));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** For `/opt/node/bin/node` the parts of `/opt/node`; for a package's file the outermost `node_modules`; else the file. */
function installationOf(file: string): readonly string[] {
  const folder = dirname(file);
  const packages = outermostModules(file);
  if (packages !== undefined) return [packages];
  if (!['bin', 'sbin'].includes(basename(folder))) return [file];
  const parts = INSTALLED.map((part) => join(dirname(folder), part));
  return parts.filter((part) => factsOf(part) !== undefined);
}

/** The outermost folder `node_modules` above a file, which holds all its packages. */
export function outermostModules(file: string): string | undefined {
  const at = `${file}/`.indexOf('/node_modules/');
  return at === -1 ? undefined : `${file.slice(0, at)}/node_modules`;
}

/** `node` for a file that starts with `#!/usr/bin/env node`; undefined for a binary. */
function interpreterOf(file: string): string | undefined {
  const [line = ''] = beginningOf(file).split('\n', 1);
  if (!line.startsWith('#!')) return undefined;
  const [program, ...words] = line.slice(2).trim().split(/\s+/);
  if (program === undefined || basename(program) !== 'env') return program;
  return words.find((word) => !word.startsWith('-') && !word.includes('='));
}

function beginningOf(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(MAX_FIRST_LINE_LENGTH);
      return bytes.toString('latin1', 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}
