import { z } from 'zod';
import type { FileHead } from '../../../turns/turns.api.js';
import type { OutboundFile } from '../../channel-adapter.port.js';
import { pictureType } from '../../inbound/file-content.js';
import type { TeamsActivity } from './teams-activity.js';

const CONSENT_CARD = 'application/vnd.microsoft.teams.card.file.consent';
const FILE_CARD = 'application/vnd.microsoft.teams.card.file.info';
const CONSENT = 'fileConsent/invoke';
const PART = 'agw_file';
/** What Teams shows of pictures within messages. */
const PICTURE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif']);
const MAX_PICTURE_BYTES = 1_000_000;

export type TeamsAttachment = Readonly<Record<string, unknown>>;

/** As what Teams shows a file within a message, whatever it is said to be; undefined for what it does not show there. */
export function shownAs({ head, sizeBytes }: FileHead): string | undefined {
  const type = pictureType(head) ?? '';
  return PICTURE_TYPES.has(type) && sizeBytes <= MAX_PICTURE_BYTES ? type : undefined;
}

/** Undefined for what Teams does not show within a message. */
export function pictureIn({ name, data }: OutboundFile): TeamsAttachment | undefined {
  const contentType = shownAs({ head: data, sizeBytes: data.length });
  if (contentType === undefined) return undefined;
  return { name, contentType, contentUrl: `data:${contentType};base64,${data.toString('base64')}` };
}

/** Asks the person whether the file may be put into their OneDrive (Teams, Send and receive files). */
export function consentCard({ name, data, key }: OutboundFile): TeamsAttachment {
  const context = { [PART]: key };
  const content = { sizeInBytes: data.length, acceptContext: context, declineContext: context };
  return { contentType: CONSENT_CARD, name, content };
}

const uploadInfo = z.object({
  uploadUrl: z.url({ protocol: /^https?$/ }).max(8192),
  contentUrl: z.string().max(8192),
  name: z.string().max(1024),
  uniqueId: z.string().max(256),
  fileType: z.string().max(32),
});
/** Where the file goes, and what it is called there. */
export type FileUpload = z.output<typeof uploadInfo>;

const consent = z.object({
  action: z.enum(['accept', 'decline']),
  context: z.object({ [PART]: z.string().regex(/^msg_\w{1,64}_\d{1,4}$/) }),
  uploadInfo: uploadInfo.nullish().catch(null),
});

/** What a person decided about a file that was offered. */
export interface FileConsent {
  readonly messageId: string;
  readonly part: number;
  /** Null: they do not want it. */
  readonly upload: FileUpload | null;
  /** The card that asked. */
  readonly card: string | undefined;
}

/** Undefined for all other activities, and for what no card of ours brings back. */
export function consentOf({ type, name, value, replyToId: card }: TeamsActivity): FileConsent | undefined {
  if (type !== 'invoke' || name !== CONSENT) return undefined;
  const { data } = consent.safeParse(value);
  if (data === undefined) return undefined;
  const upload = data.action === 'accept' ? (data.uploadInfo ?? undefined) : null;
  if (upload === undefined) return undefined;
  const key = data.context[PART];
  const at = key.lastIndexOf('_');
  return { messageId: key.slice(0, at), part: Number(key.slice(at + 1)), upload, card };
}

/** The file as people see it once it is in their OneDrive. */
export function fileCard({ contentUrl, name, uniqueId, fileType }: FileUpload): TeamsAttachment {
  return { contentType: FILE_CARD, contentUrl, name, content: { uniqueId, fileType } };
}
