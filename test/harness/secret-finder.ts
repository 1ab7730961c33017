/** The decoded forms of base64 or hexadecimal in a text. */
export function decoded(text: string): string {
  const base64 = text.replaceAll(/[\w+/-]{24,}/g, (found) => Buffer.from(found, 'base64').toString('latin1'));
  const hex = text.replaceAll(/[0-9a-f]{24,}/g, (found) => Buffer.from(found, 'hex').toString('latin1'));
  return base64 + hex;
}

/** The forms in which a secret may appear: plain, URL-encoded, in hexadecimal, and in base64 at any offset. */
function formsOf(secret: string): string[] {
  const bytes = [0, 1, 2].map((offset) => Buffer.from(' '.repeat(offset) + secret));
  const base64 = bytes.flatMap((text) => [text.toString('base64'), text.toString('base64url')]);
  const hex = Buffer.from(secret).toString('hex');
  const url = encodeURIComponent(secret);
  return [secret, url, hex, hex.toUpperCase(), ...base64.map((text) => text.slice(4, -4))];
}

/** No place may contain any secret, and each place must contain something. */
export function expectNoSecret(
  places: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): void {
  const found = Object.entries(places).flatMap(([place, text]) =>
    Object.entries(secrets).flatMap(([kind, secret]) =>
      formsOf(secret)
        .map((form) => text.indexOf(form))
        .filter((at) => at !== -1)
        .map((at) => ({ place, kind, near: text.slice(Math.max(0, at - 80), at + 20) })),
    ),
  );
  expect(found).toEqual([]);
  expect(Object.entries(places).filter(([, text]) => text.length < 100)).toEqual([]);
}
