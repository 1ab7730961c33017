import { BadRequest } from '../errors/gateway-error.js';
import { malformedJson } from './json-faults.js';

/** So many digits are below 2^53, and numbers written so short lie far within a double's range. */
const SAFE_DIGITS = 15;
const SAFE_EXPONENT_DIGITS = 2;
const SAFE_LENGTH = 100;

/**
 * Where the JSON number that starts at `at` ends. Throws `BadRequest` when it is malformed, when it is written as an
 * integer beyond ±(2^53−1), or when it is too large or too small for a double. A fraction is a measure and may be
 * rounded, as every JSON reader does (RFC 8259, 6; RFC 7493, 2.2).
 */
export function numberEnd(bytes: Buffer, start: number): number {
  const whole = bytes[start] === 0x2d ? start + 1 : start;
  const wholeEnd = integerEnd(bytes, whole);
  const fractionEnd = bytes[wholeEnd] === 0x2e ? digitsEnd(bytes, wholeEnd + 1) : wholeEnd;
  const end = exponentEnd(bytes, fractionEnd);
  if (end === wholeEnd) {
    if (end - whole > SAFE_DIGITS) checkInteger(bytes, start, end);
  } else if (end - start > SAFE_LENGTH || end - fractionEnd > SAFE_EXPONENT_DIGITS + 1) {
    checkRange(bytes, start, end);
  }
  return end;
}

function integerEnd(bytes: Buffer, at: number): number {
  return bytes[at] === 0x30 ? at + 1 : digitsEnd(bytes, at);
}

/** At least one digit must stand here. */
function digitsEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at += 1;
  if (at === from) throw malformedJson(bytes, at, 'a digit');
  return at;
}

function exponentEnd(bytes: Buffer, at: number): number {
  if (bytes[at] !== 0x65 && bytes[at] !== 0x45) return at;
  const isSigned = bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d;
  return digitsEnd(bytes, isSigned ? at + 2 : at + 1);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function checkInteger(bytes: Buffer, start: number, end: number): void {
  const isTooLong = end - start > SAFE_DIGITS + 2;
  if (isTooLong || !Number.isSafeInteger(Number(bytes.toString('latin1', start, end)))) {
    throw new BadRequest(
      `The integer at byte ${start} lies beyond ±9007199254740991 and would be rounded; send it as a string.`,
    );
  }
}

function checkRange(bytes: Buffer, start: number, end: number): void {
  const text = bytes.toString('latin1', start, end);
  const value = Number(text);
  const hasVanished = value === 0 && /^[^eE]*[1-9]/.test(text);
  if (Number.isFinite(value) && !hasVanished) return;
  const size = hasVanished ? 'small' : 'large';
  throw new BadRequest(`The number at byte ${start} is too ${size} for a double; send it as a string.`);
}
