import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const VERSION = 'agw1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed text that this key, or this context, does not open. The message says which, and contains no secret. */
export class CannotOpen extends Error {
  override readonly name = 'CannotOpen';
}

/**
 * Seals secrets for the database with AES-256-GCM under the master key. What was sealed for one place opens only there:
 * the context, such as `config:provider.api_key` or `hook:hook_01…`, is authenticated with it.
 */
export class SecretBox {
  /** By their ids, the master key first. Private, so that inspecting or serialising the box shows no key. */
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #keyId: string;
  #sealingId: string;

  /**
   * Key material of at least 32 bytes each; see `openSecretBox`. Every key opens what it sealed. The first one seals,
   * unless `sealWith` says otherwise.
   */
  constructor(masterKey: Buffer, ...previous: readonly Buffer[]) {
    const keys = [masterKey, ...previous].map(derived);
    this.#keys = new Map(keys.map((key) => [idOf(key), key]));
    this.#keyId = idOf(derived(masterKey));
    this.#sealingId = this.#keyId;
  }

  /** Identifies the master key in what it sealed; reveals nothing of the key itself. */
  get keyId(): string {
    return this.#keyId;
  }

  /**
   * From now on seals with this key of the ring, the one that the database names. Replicas that do not have the next
   * key yet can then open what others seal. Returns false when the ring does not have it; then nothing changes.
   */
  sealWith(keyId: string): boolean {
    if (!this.#keys.has(keyId)) return false;
    this.#sealingId = keyId;
    return true;
  }

  /** Text that may be stored anywhere: `agw1:<key id>:<base64url>`. Sealing twice gives two different texts. */
  seal(text: string, context: string): string {
    return this.#sealUnder(this.#sealingId, text, context);
  }

  /** Key material for one purpose that is not sealing; it changes with the master key. */
  keyFor(purpose: string): Buffer {
    return createHmac('sha256', this.#keys.get(this.#keyId) ?? '')
      .update(purpose)
      .digest();
  }

  /** The same text sealed with the master key. Throws `CannotOpen` like `open`. */
  reseal(sealed: string, context: string): string {
    return this.#sealUnder(this.#keyId, this.open(sealed, context), context);
  }

  #sealUnder(keyId: string, text: string, context: string): string {
    const key = this.#keys.get(keyId);
    if (key === undefined) throw new CannotOpen('The key to seal with is not in the ring.');
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}:${keyId}:${body.toString('base64url')}`;
  }

  /** What was sealed for this context. Throws `CannotOpen` for another key, another context and damaged text. */
  open(sealed: string, context: string): string {
    const [version, keyId = '', body = ''] = sealed.split(':');
    const bytes = Buffer.from(body, 'base64url');
    if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES)
      throw new CannotOpen('This is not a sealed secret.');
    const key = this.#keys.get(keyId);
    if (key === undefined) throw new CannotOpen('The secret was sealed under another master key.');
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      throw new CannotOpen('The sealed secret is damaged or belongs elsewhere.');
    }
  }
}

function derived(masterKey: Buffer): Buffer {
  if (masterKey.length < 32) throw new RangeError('A master key has at least 32 bytes.');
  return Buffer.from(hkdfSync('sha256', masterKey, '', 'agent-gateway secrets at rest', 32));
}

function idOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}
