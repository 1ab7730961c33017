/** The bytes of base64; undefined for anything else. Line ends and missing padding are accepted. */
export function base64Bytes(data: string): Buffer | undefined {
  const bytes = Buffer.from(data, 'base64');
  return bare(bytes.toString('base64')) === bare(data) ? bytes : undefined;
}

function bare(base64: string): string {
  return base64.replaceAll(/[\s=]/g, '');
}

/** By the first bytes, in hexadecimal; `RIFF` is followed by a length and the kind. */
const SIGNATURES: readonly (readonly [type: string, start: string, at8?: string])[] = [
  ['image/png', '89504e470d0a1a0a'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '47494638'],
  ['image/webp', '52494646', '57454250'],
  ['application/pdf', '255044462d'],
  ['audio/wav', '52494646', '57415645'],
  ['audio/mpeg', '494433'],
  ['audio/mpeg', 'fffb'],
  ['audio/mpeg', 'fff3'],
  ['audio/mpeg', 'fff2'],
];

/** The media type of these bytes; undefined for types that no model is shown. */
export function shownType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString('hex');
  return SIGNATURES.find(([, start, at8 = '']) => head.startsWith(start) && head.startsWith(at8, 16))?.[0];
}
