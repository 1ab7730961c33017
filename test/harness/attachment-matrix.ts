/** A kind of file that people send. The agent calls it `name` where the platform lets people name files. */
export interface SentKind {
  readonly what: string;
  readonly name: string;
  readonly mimeType: string;
  readonly data: Buffer;
  /** What goes wrong with it. */
  readonly fault?: 'too large' | 'not there';
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const OGG = Buffer.from('OggS not really a voice \u0000\u0001');
const kind = (what: string, name: string, mimeType: string, data: Buffer): SentKind => ({
  ...{ what, name, mimeType, data },
});

/** One of each kind that the gateway treats differently. */
export const KINDS: readonly SentKind[] = [
  kind('picture', 'dot.png', 'image/png', PNG),
  kind('picture as a file', 'dot-file.png', 'image/png', PNG),
  kind('PDF', 'report.pdf', 'application/pdf', Buffer.from('%PDF-1.4\n% nothing on no page\n%%EOF')),
  kind('file of text', 'table.csv', 'text/csv', Buffer.from('a,b\n1,2\n')),
  kind('voice message', 'voice.ogg', 'audio/ogg', OGG),
  kind('sound (MP3, WAV)', 'song.mp3', 'audio/mpeg', Buffer.from('ID3\u0004\u0000 no song')),
  kind('video', 'clip.mp4', 'video/mp4', Buffer.from('\u0000\u0000\u0000\u0018ftypmp42 no clip')),
  kind('other file', 'box.zip', 'application/zip', Buffer.from('504b0304000000', 'hex')),
  kind('not a picture, though it says so', 'odd.png', 'image/png', OGG),
  { ...kind('larger than 20 MiB', 'huge.bin', 'application/zip', Buffer.alloc(0)), fault: 'too large' },
  { ...kind('cannot be fetched', 'gone.txt', 'text/plain', Buffer.alloc(0)), fault: 'not there' },
];

export const PLATFORMS = ['telegram', 'slack', 'teams', 'webhook'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** How each platform sends it. Teams gives bots no voice messages, and webhooks send only the address of a file. */
const SENT_AS: Readonly<Record<string, Readonly<Record<Platform, string>>>> = {
  picture: { telegram: 'photo', slack: 'file', teams: 'in the message', webhook: 'address' },
  'voice message': { telegram: 'voice', slack: 'file', teams: 'file', webhook: 'address' },
  'sound (MP3, WAV)': { telegram: 'audio', slack: 'file', teams: 'file', webhook: 'address' },
  video: { telegram: 'video', slack: 'file', teams: 'file', webhook: 'address' },
};
const AS_FILE = { telegram: 'document', slack: 'file', teams: 'file', webhook: 'address' } as const;

/** How a platform sends it. */
export function sentAs(what: string, platform: Platform): string {
  return (SENT_AS[what] ?? AS_FILE)[platform];
}

/** The agents, each with its own model. */
export const MODELS = {
  chat: 'Chat Completions',
  hearing: 'Chat Completions, a model that hears',
  responses: 'Responses',
  messages: 'Messages',
  blind: 'a model that refuses pictures and PDFs',
} as const;
export type Model = keyof typeof MODELS;

/** What the model gets, and what the person reads besides the answer. */
export interface Outcome {
  readonly model: 'picture' | 'document' | 'text' | 'sound' | 'note' | 'note: left out' | 'note: not read';
  readonly person: string;
}

const CANNOT = {
  see: 'I cannot look at pictures',
  read: 'I cannot read PDFs',
  hear: 'I cannot listen to sound',
  watch: 'I cannot watch videos',
  open: 'I cannot open files of this kind',
} as const;

/** The expected outcome in each cell. */
export function outcomeOf({ what, fault }: SentKind, model: Model): Outcome {
  const isBlind = model === 'blind';
  if (fault !== undefined) return { model: 'note: not read', person: 'I could not read it, and why' };
  switch (what) {
    case 'picture':
    case 'picture as a file':
      return isBlind ? { model: 'note: left out', person: CANNOT.see } : { model: 'picture', person: '' };
    case 'PDF':
      return isBlind ? { model: 'note: left out', person: CANNOT.read } : { model: 'document', person: '' };
    case 'file of text':
      return { model: 'text', person: '' };
    case 'sound (MP3, WAV)':
      return model === 'hearing' ? { model: 'sound', person: '' } : { model: 'note', person: CANNOT.hear };
    case 'voice message':
      return { model: 'note', person: CANNOT.hear };
    case 'video':
      return { model: 'note', person: CANNOT.watch };
    default:
      return { model: 'note', person: CANNOT.open };
  }
}

/** The tables of docs/channels.md. */
export function matrixTables(): readonly string[] {
  const models = Object.keys(MODELS) as Model[];
  const head = ['Kind', ...models.map((model) => MODELS[model]), 'Where it is a note, the person reads'];
  const rows = KINDS.map((one) => {
    const outcomes = models.map((model) => outcomeOf(one, model));
    const told = [...new Set(outcomes.map(({ person }) => person).filter(Boolean))].join(', ');
    return [one.what, ...outcomes.map((outcome) => outcome.model), told];
  });
  const places = KINDS.map(({ what }) => [what, ...PLATFORMS.map((platform) => sentAs(what, platform))]);
  return [table(head, rows), table(['Kind', 'Telegram', 'Slack', 'Teams', 'Webhook'], places)];
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
