import { readdir } from 'node:fs/promises';

const MAX_PLUGINS = 64;
const MAX_NAME_LENGTH = 64;

/** The folders of `plugins.directory`, by name; at most 64. Hidden ones and files are none. Throws when it cannot be read. */
export async function pluginNames(directory: string): Promise<readonly string[]> {
  if (directory === '') return [];
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .filter((name) => name.length <= MAX_NAME_LENGTH)
    .sort()
    .slice(0, MAX_PLUGINS);
}
