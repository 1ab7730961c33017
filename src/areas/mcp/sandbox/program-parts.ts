import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { factsOf, isFile, resolvedPath } from './resolved-path.js';

/** How a program is looked for. */
export interface SearchPath {
  /** PATH of the child. */
  readonly path: string;
  /** The folder it runs in. */
  readonly cwd: string;
}

/** Beside `bin`, what belongs to an installation; its `share` or `etc` may be anything. */
const INSTALLED = ['bin', 'sbin', 'lib', 'lib64', 'libexec', 'pyvenv.cfg'];
/** A script may name an interpreter that is a script. */
const MAX_INTERPRETERS = 4;
const MAX_FIRST_LINE_LENGTH = 256;

/**
 * What has to be seen for this program to run: its installation, that of the interpreter its first line names, and
 * so on. Paths as they are named and as they really are; what is not there is left out.
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

/** The file that this command starts; undefined when there is none. */
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

/** The parts of `/opt/node` for `/opt/node/bin/node`; the outermost `node_modules` for a package's file; else the file. */
function installationOf(file: string): readonly string[] {
  const folder = dirname(file);
  const packages = outermostModules(file);
  if (packages !== undefined) return [packages];
  if (!['bin', 'sbin'].includes(basename(folder))) return [file];
  const parts = INSTALLED.map((part) => join(dirname(folder), part));
  return parts.filter((part) => factsOf(part) !== undefined);
}

/** The first folder `node_modules` on the way to a file, which holds all its packages. */
export function outermostModules(file: string): string | undefined {
  const at = `${file}/`.indexOf('/node_modules/');
  return at === -1 ? undefined : `${file.slice(0, at)}/node_modules`;
}

/** `node` for a file that begins with `#!/usr/bin/env node`; undefined for a program of the machine. */
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
