import type { ProducedFile } from '../../src/areas/tools/tools.api.js';
import { table } from './attachment-matrix.js';

const MB = 1_000_000;
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A file that a tool makes. */
export interface MadeKind {
  readonly what: string;
  readonly file: ProducedFile;
}

const kind = (what: string, name: string, mimeType: string, data: Buffer): MadeKind => ({
  what,
  file: { name, mimeType, data },
});
const larger = (bytes: number): Buffer => Buffer.concat([PNG, Buffer.alloc(bytes)]);

/** One of each kind that a platform treats differently. */
export const MADE: readonly MadeKind[] = [
  kind('picture (PNG, JPEG)', 'dot.png', 'image/png', PNG),
  kind(
    'picture (WebP)',
    'dot.webp',
    'image/webp',
    Buffer.from('RIFF\u0001\u0000\u0000\u0000WEBP no picture'),
  ),
  kind('picture (GIF)', 'dot.gif', 'image/gif', Buffer.from('GIF89a no picture')),
  kind('picture larger than 1 MB', 'large.png', 'image/png', larger(MB)),
  kind('picture larger than 10 MB', 'huge.png', 'image/png', larger(10 * MB)),
  kind('not a picture, though it says so', 'odd.png', 'image/png', Buffer.from('no picture')),
  kind('PDF', 'report.pdf', 'application/pdf', Buffer.from('%PDF-1.4\n% nothing on no page\n%%EOF')),
  kind('text', 'table.csv', 'text/csv', Buffer.from('a,b\n1,2\n')),
  kind('sound', 'song.mp3', 'audio/mpeg', Buffer.from('ID3\u0004\u0000 no song')),
  kind('video', 'clip.mp4', 'video/mp4', Buffer.from('\u0000\u0000\u0000\u0018ftypmp42 no clip')),
  kind('other file', 'box.zip', 'application/zip', Buffer.from('504b0304000000', 'hex')),
];

/** Where people and programs receive them. */
export const PLACES = [
  'Telegram',
  'Slack',
  'Teams, personal chat',
  'Teams, channel or group chat',
  'Webhook, response',
  'Webhook, callback',
] as const;
export type Place = (typeof PLACES)[number];
export type Outcome =
  | 'picture'
  | 'document'
  | 'file'
  | 'in the message'
  | 'once the reader agrees'
  | 'named only'
  | 'bytes';

const TELEGRAM: ReadonlySet<string> = new Set(['dot.png', 'dot.webp', 'large.png']);
const TEAMS: ReadonlySet<string> = new Set(['dot.png', 'dot.gif']);

/** The expected outcome in each cell. */
export function madeOutcome({ file: { name } }: MadeKind, place: Place): Outcome {
  switch (place) {
    case 'Telegram':
      return TELEGRAM.has(name) ? 'picture' : 'document';
    case 'Slack':
      return 'file';
    case 'Teams, personal chat':
      return TEAMS.has(name) ? 'in the message' : 'once the reader agrees';
    case 'Teams, channel or group chat':
      return TEAMS.has(name) ? 'in the message' : 'named only';
    case 'Webhook, response':
    case 'Webhook, callback':
      return 'bytes';
    default:
      return place satisfies never;
  }
}

/** The table of docs/channels.md. */
export function madeTable(): string {
  return table(
    ['Kind', ...PLACES],
    MADE.map((one) => [one.what, ...PLACES.map((place) => madeOutcome(one, place))]),
  );
}
