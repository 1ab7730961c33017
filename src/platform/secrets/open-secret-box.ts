import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SecretBox } from './secret-box.js';

export interface MasterKeySource {
  /** GATEWAY_MASTER_KEY. */
  readonly masterKey: string | undefined;
  /** GATEWAY_MASTER_KEY_PREVIOUS: opens what it sealed, until `secrets rotate` has sealed that again. */
  readonly previousKey?: string | undefined;
  /** Folder of the generated key file. */
  readonly dataDir: string;
  /** Whether the database is the embedded one, and so lies beside the key file. */
  readonly embedded: boolean;
  readonly production: boolean;
  /** False for commands that only use what exists: then a missing key file is an error. Default: true. */
  readonly makesKeyFile?: boolean;
}

export interface OpenedSecretBox {
  readonly box: SecretBox;
  /** The key as text, which must never be shown. */
  readonly keyText: string;
  /** The same for the previous key. */
  readonly previousText?: string;
}

/** There is neither GATEWAY_MASTER_KEY nor a key file, and none may be created. */
export class NoMasterKey extends Error {
  constructor(path: string) {
    super(
      `There is no master key: GATEWAY_MASTER_KEY is not set and ${path} does not exist. Set the gateway's GATEWAY_MASTER_KEY, or point GATEWAY_DATA_DIR at its data folder.`,
    );
    this.name = new.target.name;
  }
}

const MIN_KEY_LENGTH = 32;
/** The placeholders that the example files have where a key belongs. */
const PLACEHOLDERS = new Set(['at-least-32-random-characters-here']);
const howToMake = 'Make one with: openssl rand -base64 32';

/**
 * The box under GATEWAY_MASTER_KEY, or else under the key file `master.key` of the data directory, which is created
 * when it does not exist. Throws one sentence when the key is too short, and in production with a database of your own
 * when no key is set: a file on one replica would lock every other one out.
 */
export async function openSecretBox(source: MasterKeySource): Promise<OpenedSecretBox> {
  const keyText = source.masterKey ?? (await keyOfFile(source));
  const problem = masterKeyProblem(keyText);
  if (problem !== undefined) throw new Error(`The master key ${problem}`);
  const { previousKey } = source;
  if (previousKey === undefined) return { box: new SecretBox(Buffer.from(keyText)), keyText };
  const previousText = previousKey.trim();
  const previousProblem = masterKeyProblem(previousText);
  if (previousProblem !== undefined) throw new Error(`GATEWAY_MASTER_KEY_PREVIOUS ${previousProblem}`);
  const ring = new SecretBox(Buffer.from(keyText), Buffer.from(previousKey), Buffer.from(previousText));
  return { box: ring, keyText, previousText };
}

/**
 * What is wrong with the text of a master key, to follow "GATEWAY_MASTER_KEY"; undefined when nothing is. Never repeats
 * the key.
 */
export function masterKeyProblem(keyText: string): string | undefined {
  if (isOneByte(keyText.trim())) return `is one byte over and over. ${howToMake}`;
  if (PLACEHOLDERS.has(keyText.trim())) return `is the placeholder of an example. ${howToMake}`;
  if (keyText.length < MIN_KEY_LENGTH) return `is shorter than ${MIN_KEY_LENGTH} characters. ${howToMake}`;
  return undefined;
}

/**
 * Whether the text, or what it means as hex or base64, is one byte repeated: people write zeros to try something out.
 */
function isOneByte(keyText: string): boolean {
  const readings = [Buffer.from(keyText), Buffer.from(keyText, 'hex'), Buffer.from(keyText, 'base64')];
  return readings.some(
    (bytes) => bytes.length >= keyText.length / 2 && bytes.every((byte) => byte === bytes[0]),
  );
}

/** Why a start without GATEWAY_MASTER_KEY is refused; undefined when the key file will do. */
export function missingKeyProblem({
  embedded,
  production,
}: Pick<MasterKeySource, 'embedded' | 'production'>): string | undefined {
  return production && !embedded
    ? `is not set; production with a database of your own needs it. ${howToMake}`
    : undefined;
}

async function keyOfFile({
  dataDir,
  embedded,
  production,
  makesKeyFile = true,
}: MasterKeySource): Promise<string> {
  const missing = missingKeyProblem({ embedded, production });
  if (missing !== undefined) throw new Error(`GATEWAY_MASTER_KEY ${missing}`);
  const path = join(dataDir, 'master.key');
  const keyText = makesKeyFile ? await readOrMakeKeyFile(path) : await readKeyFile(path);
  if (keyText === undefined) throw new NoMasterKey(path);
  return keyText;
}

/**
 * The key in the file, which is created with mode 0600 when it does not exist. When several start at once, one creates
 * it.
 */
async function readOrMakeKeyFile(path: string): Promise<string> {
  const known = await readKeyFile(path);
  if (known !== undefined) return known;
  await makeKeyFile(path);
  const made = await readKeyFile(path);
  if (made === undefined) throw new Error(`The key file ${path} was removed while it was made.`);
  return made;
}

/** The key in the file; undefined when there is no file. Throws for a file that others may read. */
async function readKeyFile(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0 && process.platform !== 'win32') {
      throw new Error(`Others may read the key file ${path}; run: chmod 600 ${path}`);
    }
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isFileError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Written to another file and linked into place: no one ever reads half a key, and no key is overwritten. */
async function makeKeyFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(aside, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(aside, path);
  } catch (error) {
    if (!isFileError(error, 'EEXIST')) throw error;
  } finally {
    await unlink(aside);
  }
}

function isFileError(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
