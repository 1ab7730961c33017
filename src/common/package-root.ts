import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

let found: string | undefined;

/** The folder that holds `package.json`, `skills` and `dist`: the same for the sources, the compiled files and the bundle. */
export function packageRoot(): string {
  found ??= above(dirname(fileURLToPath(import.meta.url)));
  return found;
}

function above(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder)
    throw new Error('The gateway does not find its own package.json: its files were moved apart.');
  return above(parent);
}
