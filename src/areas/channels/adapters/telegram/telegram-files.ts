import { type Api, GrammyError } from 'grammy';
import { withoutEndSlashes } from '../../../../common/text/without-end-slashes.js';
import { OutboundFailed } from '../../../../platform/outbound/outbound.errors.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import type { FetchedFile, InboundFile } from '../../channel-adapter.port.js';
import { FileNotHad } from '../../channel-failures.js';
import { download, tooLarge } from '../../inbound/file-download.js';
import { causeOf, DEFAULT_ROOT, grammySignal, type TelegramAccess } from './telegram-client.js';

/** A file takes longer than a call. */
const TIMES_LONGER = 3;
/** A path below the bot's own: no other host, no way up. */
const FILE_PATH = /^[\w-][\w./ -]{0,400}$/;

/** Files that people sent to the bot (Bot API, getFile). Their address contains the token, so only the API's own host is called. */
export class TelegramFiles {
  constructor(
    private readonly outbound: OutboundClient,
    private readonly api: Api,
    private readonly access: TelegramAccess,
  ) {}

  /** Throws `FileNotHad`. */
  async fetch({ where }: InboundFile, maxBytes: number, signal: AbortSignal): Promise<FetchedFile> {
    const path = await this.pathOf(String(where?.['file']), maxBytes, signal);
    const { token, apiUrl, timeoutMs } = this.access;
    const root = withoutEndSlashes(apiUrl === '' ? DEFAULT_ROOT : apiUrl);
    const url = `${root}/file/bot${token}/${path.split('/').map(encodeURIComponent).join('/')}`;
    const fetched = await download(this.outbound, {
      url,
      maxBytes,
      timeoutMs: timeoutMs * TIMES_LONGER,
      signal,
    });
    return { data: fetched.data };
  }

  private async pathOf(id: string, maxBytes: number, signal: AbortSignal): Promise<string> {
    const found = await this.api.getFile(id, grammySignal(signal)).catch((error: unknown) => {
      throw notHad(error);
    });
    const { file_path: path = '', file_size: size = 0 } = found;
    if (size > maxBytes) throw tooLarge();
    if (!FILE_PATH.test(path) || path.includes('..'))
      throw new FileNotHad('never', 'Telegram does not say where it is');
    return path;
  }
}

function notHad(error: unknown): FileNotHad {
  if (!(error instanceof GrammyError)) {
    const cause = causeOf(error);
    const reason = cause instanceof OutboundFailed ? cause.reasonText : 'the answer is not understood';
    return new FileNotHad('later', `Telegram did not answer: ${reason}`);
  }
  const { error_code: code, description, parameters } = error;
  if (/too big/i.test(description))
    return new FileNotHad('never', 'Telegram gives bots files of at most 20 MB');
  const isLater = code === 401 || code === 429 || code >= 500;
  const afterMs = parameters.retry_after === undefined ? undefined : parameters.retry_after * 1000;
  return new FileNotHad(isLater ? 'later' : 'never', `Telegram answered ${code}`, afterMs);
}
