import { readFile, stat } from 'node:fs/promises';
import { decodeJwt } from 'jose';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { CredentialsUnreadable } from '../connection/mcp-failure.js';

const MAX_FILE_BYTES = 65_536;

/**
 * The JWT in a file that somebody else keeps up to date: read anew each time. Throws `CredentialsUnreadable`, also for one that has
 * ended.
 * @param what the file is for, at the beginning of a sentence
 */
export async function tokenInFile(file: string, what: string): Promise<string> {
  let token: string;
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new Error(`${file} has more than ${MAX_FILE_BYTES} bytes`);
    token = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new CredentialsUnreadable(`${what} cannot be read: ${sentenceOf(error)}`);
  }
  const endsAt = endOfToken(token);
  if (endsAt === undefined) throw new CredentialsUnreadable(`${what}: ${file} holds no JSON Web Token.`);
  if (endsAt > Date.now()) return token;
  const when = new Date(endsAt).toISOString();
  throw new CredentialsUnreadable(`${what}: the token in ${file} ended at ${when} and was not renewed.`);
}

/** In Unix milliseconds; infinite for one that never ends, undefined for what is no JWT. */
export function endOfToken(token: string): number | undefined {
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? Number.POSITIVE_INFINITY : exp * 1000;
  } catch {
    return undefined;
  }
}
