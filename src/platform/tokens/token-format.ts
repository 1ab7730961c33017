import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const TOKEN_PREFIX = 'agw_';

const SECRET_BYTES = 32;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;
const SHAPE = /^agw_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/;

/**
 * A new API token of 53 characters: `agw_`, 32 random bytes in base64url, and the CRC32 of everything before it as 6
 * base62 digits. The checksum is not secret: it tells a token from a typing error or a scanner's guess.
 */
export function mintToken(): string {
  const text = TOKEN_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
  return text + checksum(text);
}

/** Whether the text has the shape and the checksum of a token; anything else is refused without asking the database. */
export function looksLikeToken(text: string): boolean {
  return SHAPE.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** SHA-256 of the presented text, 32 bytes: the only form in which a token is stored. */
export function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

const BEARER = /^Bearer +([^\s]+) *$/i;

/** The token of an `Authorization` header; undefined when the header is of another kind. */
export function bearerOf(header: string | undefined): string | undefined {
  return BEARER.exec(header ?? '')?.[1];
}
