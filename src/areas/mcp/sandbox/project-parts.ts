import { readdirSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { type GuardedFolders, isEnvironmentFile } from './guarded-folders.js';
import { factsOf, foldersAbove, isFile, isFolder } from './paths.js';
import { outermostModules } from './program-parts.js';

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
  return CODE.has(extname(path)) || (extname(path) === '' && isFile(path) && isExecutable(path));
}

function isExecutable(path: string): boolean {
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
