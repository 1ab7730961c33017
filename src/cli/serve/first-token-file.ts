import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const NAME = 'first-token';

/**
 * Writes what the first start has to say into the data folder, readable by its owner alone (0600), whatever stood under
 * that name before. Rejects when the folder cannot be written to. @returns the path of the file
 */
export async function writeFirstToken(dataDir: string, text: string): Promise<string> {
  const path = join(dataDir, NAME);
  const fresh = join(dataDir, `.${NAME}.${process.pid}`);
  await rm(fresh, { force: true });
  const file = await open(fresh, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
  return path;
}
