import { accessSync, closeSync, constants, openSync, readdirSync, readSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { type GuardedFolders, isEnvironmentFile } from './guarded-folders.js';
import { factsOf, foldersAbove, isFile, isFolder, resolvedPath } from './paths.js';

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
function outermostModules(file: string): string | undefined {
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

/** A folder with one of these is the root of a project. */
const MANIFESTS = ['package.json', 'pyproject.toml', 'setup.py', 'Cargo.toml', 'go.mod', 'deno.json'];
const CODE = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.py', '.rb', '.wasm', '.sh', '.jar']);
/** What a program in a folder always needs of it. */
const NEEDED = ['node_modules', 'package.json', '.venv'];
const PROGRAM_FOLDERS = new Set(['bin', 'sbin']);
/** A folder with more entries is not shown entry by entry. */
const MAX_ENTRIES = 128;

/** The shown parts of a server's working folder. Real paths. */
export function workingFolderParts(folder: string, guarded: GuardedFolders): readonly string[] {
  return [...folderParts(folder, guarded), ...modulesAbove(folder)];
}

/**
 * What is shown because an argument, a variable or the command names it: for code its whole project, for anything else
 * that path alone. A wide or guarded folder is not shown as a whole. Real paths.
 */
export function namedParts(path: string, guarded: GuardedFolders): readonly string[] {
  if (guarded.isSecret(path)) return [];
  if (isFolder(path)) return guarded.isStrict(path) || isRuntimeState(path) ? [] : folderParts(path, guarded);
  if (!isFile(path)) return [];
  return isCode(path) ? [...projectParts(path, guarded), ...modulesAbove(path)] : [path];
}

function projectParts(file: string, guarded: GuardedFolders): readonly string[] {
  const packages = outermostModules(file);
  if (packages !== undefined) return [packages, join(dirname(packages), 'package.json')].filter(exists);
  const root = foldersAbove(file).find((folder) => MANIFESTS.some((name) => isFile(join(folder, name))));
  const isProject = root !== undefined && !guarded.isWide(root);
  // Programs in such a folder have nothing to do with each other.
  if (!isProject && PROGRAM_FOLDERS.has(basename(dirname(file)))) return [file];
  const folder = isProject ? root : dirname(file);
  if (!guarded.isStrict(folder)) return folderParts(folder, guarded);
  return [file, ...topFolderOf(file, folder), ...siblingsOf(file, guarded), ...needed(folder)];
}

/** The whole folder or, if it holds something that no server may see, its other entries one by one. */
function folderParts(folder: string, guarded: GuardedFolders): readonly string[] {
  if (guarded.isStrict(folder)) return needed(folder);
  const names = namesIn(folder);
  if (!guarded.isGuarded(folder) && !names.some(isEnvironmentFile)) return [folder];
  if (names.length > MAX_ENTRIES) return needed(folder);
  const shown = names.filter((name) => !name.startsWith('.')).map((name) => join(folder, name));
  return [...shown.filter((path) => !guarded.isSecret(path)), ...needed(folder)];
}

/** The folder directly below `folder` that holds the file. */
function topFolderOf(file: string, folder: string): readonly string[] {
  const [first = '', ...rest] = relative(folder, file).split('/');
  return rest.length === 0 ? [] : [join(folder, first)];
}

/** Other code beside a script, which it may import; nothing if the script is in a wide folder such as a home. */
function siblingsOf(file: string, guarded: GuardedFolders): readonly string[] {
  const folder = dirname(file);
  if (guarded.isWide(folder)) return [];
  const paths = namesIn(folder).map((name) => join(folder, name));
  return paths.filter((path) => isCode(path) && !guarded.isSecret(path)).slice(0, MAX_ENTRIES);
}

function needed(folder: string): readonly string[] {
  return NEEDED.map((name) => join(folder, name)).filter(exists);
}

/** The folders above in which Node.js looks for packages. */
function modulesAbove(path: string): readonly string[] {
  return foldersAbove(path)
    .map((folder) => join(folder, 'node_modules'))
    .filter(isFolder);
}

function isCode(path: string): boolean {
  return CODE.has(extname(path)) || (extname(path) === '' && isFile(path) && hasExecuteBit(path));
}

function hasExecuteBit(path: string): boolean {
  return ((factsOf(path)?.mode ?? 0) & 0o111) !== 0;
}

/** Folders below `/run` hold the sockets of the machine's services. */
function isRuntimeState(path: string): boolean {
  return path.startsWith('/run/');
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function exists(path: string): boolean {
  return factsOf(path) !== undefined && basename(path) !== '';
}
