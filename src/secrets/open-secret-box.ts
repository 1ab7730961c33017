import { join } from 'node:path';
import { readOrMakeKeyFile } from './key-file.js';
import { SecretBox } from './secret-box.js';

export interface MasterKeySource {
  /** GATEWAY_MASTER_KEY. */
  readonly masterKey: string | undefined;
  /** Folder of the generated key file. */
  readonly dataDir: string;
  /** Whether the database is the one that came with the gateway, and so lies beside the key file. */
  readonly embedded: boolean;
  readonly production: boolean;
}

export interface OpenedSecretBox {
  readonly box: SecretBox;
  /** The key as text, which must never be shown. */
  readonly keyText: string;
}

const SHORTEST_KEY = 32;
const howToMake = 'Make one with: openssl rand -base64 32';

/**
 * The box under GATEWAY_MASTER_KEY, else under the key file `master.key` of the data directory, which is made when
 * absent. Throws one sentence when the key is too short, and in production with a database of your own without one:
 * a file of one replica would lock every other one out.
 */
export async function openSecretBox(source: MasterKeySource): Promise<OpenedSecretBox> {
  const keyText = source.masterKey ?? (await keyOfFile(source));
  if (keyText.length < SHORTEST_KEY) {
    throw new Error(`The master key is shorter than ${SHORTEST_KEY} characters. ${howToMake}`);
  }
  return { box: new SecretBox(Buffer.from(keyText)), keyText };
}

async function keyOfFile({ dataDir, embedded, production }: MasterKeySource): Promise<string> {
  if (production && !embedded) {
    throw new Error(
      `GATEWAY_MASTER_KEY is not set; production with a database of your own needs it. ${howToMake}`,
    );
  }
  return readOrMakeKeyFile(join(dataDir, 'master.key'));
}
