/** Replaces a secret everywhere. */
export const REDACTED = '***REDACTED***';

/** Shorter values are not looked for: they are too likely to be part of innocent words. */
export const MIN_SECRET_LENGTH = 8;

/** Lines of a longer secret that are looked for by themselves. */
const MIN_LINE_LENGTH = 20;

/**
 * The forms in which a secret shows up in texts: as it is, JSON-escaped once or twice, URL-encoded by the usual
 * encoders, and within base64 (Basic credentials, for instance); a secret of several lines, such as a private key, also
 * line by line. Each form has at least `MIN_SECRET_LENGTH` characters.
 */
export function secretForms(secret: string): string[] {
  // Encoders refuse lone surrogates, and writing a text as UTF-8 replaces them just so.
  const written = Buffer.from(secret).toString();
  const forms = [secret, written, written.trim()].flatMap((plain) => [
    plain,
    jsonEscaped(plain),
    jsonEscaped(jsonEscaped(plain)),
  ]);
  forms.push(...urlEncoded(written), ...base64Cores(Buffer.from(written)), ...longLines(written));
  return [...new Set(forms)].filter((form) => form.length >= MIN_SECRET_LENGTH && !REDACTED.includes(form));
}

function longLines(text: string): string[] {
  return text.split(/[\r\n]+/).filter((line) => line.length >= MIN_LINE_LENGTH);
}

function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function urlEncoded(text: string): string[] {
  const userInfo = new URL('http://host');
  userInfo.password = text;
  const formField = new URLSearchParams({ k: text }).toString().slice(2);
  const encoded = [encodeURIComponent(text), encodeURI(text), formField, userInfo.password];
  return [...encoded, ...encoded.map((form) => form.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()))];
}

/** The characters that base64 makes of the bytes whatever stands before and after them, for the three alignments. */
function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor((shifted.length * 8) / 6);
    return [shifted.toString('base64').slice(from, to), shifted.toString('base64url').slice(from, to)];
  });
}
