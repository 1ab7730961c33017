import type { FilesCompleteUploadExternalArguments, WebClient } from '@slack/web-api';
import { z } from 'zod';
import { mediaKind } from '../../../../common/text/media-type.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import type { FetchedFile, InboundFile, OutboundFile } from '../../channel-adapter.port.js';
import { FileNotHad, NotSent } from '../../channel-failures.js';
import { download } from '../../inbound/file-download.js';
import { DEFAULT_ROOT, isRefusal, type SlackAccess, sendFailure } from './slack-client.js';

/** A file takes longer than a call. */
const TIMES_LONGER = 3;
const MAX_URL_LENGTH = 2000;
const MAX_ANSWER_BYTES = 65_536;

const absent = <Type extends z.ZodType>(type: Type) =>
  type
    .nullish()
    .catch(null)
    .transform((value) => value ?? undefined);

const slackFile = z.object({
  id: z.string().regex(/^[A-Za-z0-9]{1,64}$/),
  name: absent(z.string()),
  title: absent(z.string()),
  mimetype: absent(z.string()),
  size: absent(z.number()),
  mode: absent(z.string()),
  file_access: absent(z.string()),
  is_external: absent(z.boolean()),
  url_private: absent(z.string().max(MAX_URL_LENGTH)),
  url_private_download: absent(z.string().max(MAX_URL_LENGTH)),
});
type SlackFile = z.output<typeof slackFile>;

/** Modes of files that are gone, or that Slack keeps back. */
const GONE = new Set(['tombstone', 'hidden_by_limit', 'external']);

/** The files of a message; those of an unknown form are left out. */
export function slackFiles(values: readonly unknown[]): InboundFile[] {
  return values.flatMap((value) => {
    const { data } = slackFile.safeParse(value);
    return data === undefined ? [] : fileOf(data);
  });
}

function fileOf(file: SlackFile): InboundFile {
  const mimeType = file.mimetype ?? '';
  const kind = mediaKind(mimeType);
  return {
    type: kind ?? 'file',
    name: file.name ?? file.title ?? 'file',
    mimeType,
    sizeBytes: file.size ?? null,
    where: whereOf(file),
  };
}

function whereOf(file: SlackFile): InboundFile['where'] {
  if (file.is_external === true || GONE.has(file.mode ?? '')) return null;
  const url = file.url_private_download ?? file.url_private;
  return url === undefined || file.file_access === 'check_file_info' ? { id: file.id } : { id: file.id, url };
}

export interface SlackFetch {
  readonly outbound: OutboundClient;
  readonly access: SlackAccess & { readonly token: string };
  readonly api: WebClient;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The bytes of a file. The token goes to Slack's own hosts only. Throws `FileNotHad`. */
export async function fetchSlackFile(
  { where, mimeType }: InboundFile,
  { outbound, access, api, maxBytes, signal }: SlackFetch,
): Promise<FetchedFile> {
  const { id, url: known } = where ?? {};
  const url = typeof known === 'string' ? known : await addressOf(String(id), api);
  if (!isOwnHost(url, access)) throw new FileNotHad('never', 'it is not kept at Slack');
  const headers = { authorization: `Bearer ${access.token}` };
  const timeoutMs = access.timeoutMs * TIMES_LONGER;
  const fetched = await download(outbound, { url, headers, maxBytes, timeoutMs, signal });
  // Without the scope files:read, Slack answers with the page to sign in.
  if (fetched.mimeType === 'text/html' && !mimeType.startsWith('text/html')) {
    throw new FileNotHad('never', 'Slack does not give it to me (the app needs the scope files:read)');
  }
  return fetched;
}

interface SlackUpload extends Omit<SlackFetch, 'maxBytes'> {
  readonly target: { readonly channel: string; readonly thread?: string };
}

/**
 * Uploads a file, which nobody can see yet, and then shares it. Only the second step must not be repeated. Throws
 * `NotSent`.
 */
export async function sendSlackFile({ name, data }: OutboundFile, upload: SlackUpload): Promise<void> {
  const { api, target } = upload;
  const { upload_url: url = '', file_id: id = '' } = await api.files
    .getUploadURLExternal({ filename: name, length: data.length })
    .catch((error: unknown) => {
      throw notSent(error).asRetryable();
    });
  await uploadBytes(url, data, upload);
  const { channel, thread } = target;
  const place = { channel_id: channel, ...(thread === undefined ? {} : { thread_ts: thread }) };
  const shared = { files: [{ id, title: name }], ...place } as FilesCompleteUploadExternalArguments;
  await api.files.completeUploadExternal(shared).catch((error: unknown) => {
    throw notSent(error);
  });
}

/** The address is secret by itself: no token goes there. */
async function uploadBytes(
  url: string,
  data: Buffer,
  { outbound, access, signal }: SlackUpload,
): Promise<void> {
  if (!isOwnHost(url, access))
    throw new NotSent('rejected', 'Slack named no address of its own to upload it to');
  const { status } = await outbound
    .read({
      ...{ method: 'POST', url, headers: { 'content-type': 'application/octet-stream' }, body: data },
      ...{ timeoutMs: access.timeoutMs * TIMES_LONGER, maxBytes: MAX_ANSWER_BYTES, signal },
    })
    .catch((error: unknown) => {
      throw sendFailure(error).asRetryable();
    });
  if (status === 429 || status >= 500) throw new NotSent('retry', `Slack answered ${status} to the upload`);
  if (status < 200 || status > 299) throw new NotSent('rejected', `Slack answered ${status} to the upload`);
}

/** Without the scope the text of the answer arrives nevertheless: the file is given up, and the reader is told why. */
function notSent(error: unknown): NotSent {
  const failure = sendFailure(error);
  return isRefusal(error) && failure.message.includes('missing_scope')
    ? new NotSent('rejected', 'the app needs the scope files:write')
    : failure;
}

/** Files from other workspaces are announced without their address. */
async function addressOf(id: string, api: WebClient): Promise<string> {
  const { file } = await api.files.info({ file: id }).catch((error: unknown) => {
    const { why, message, retryAfterMs } = sendFailure(error);
    throw new FileNotHad(why === 'rejected' ? 'never' : 'later', message, retryAfterMs);
  });
  const url = file?.url_private_download ?? file?.url_private;
  if (url === undefined || url.length > MAX_URL_LENGTH)
    throw new FileNotHad('never', 'Slack does not say where it is');
  return url;
}

/** The API's own host, or one below it such as files.slack.com. */
function isOwnHost(text: string, { apiUrl }: SlackAccess): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const api = new URL(apiUrl === '' ? DEFAULT_ROOT : apiUrl);
  if (url.protocol !== api.protocol) return false;
  return url.host === api.host || (url.port === '' && url.hostname.endsWith(`.${api.hostname}`));
}
