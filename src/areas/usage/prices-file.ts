import { readFileSync, statSync } from 'node:fs';
import { parse } from 'smol-toml';
import { sentenceOf } from '../../common/errors/error-text.js';
import type { Logger } from '../../platform/logging/logger.js';
import { Poller } from '../../platform/runtime/poller.js';
import { readPrices } from '../../platform/settings/sections/money.section.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';

type PriceTable = GatewaySettings['prices'];

/** How often the file is checked for changes. */
const LOOK_MS = 5000;
const MAX_BYTES = 10_485_760;
const NONE: PriceTable = {};

/** The price file that an operator maintains; a new version takes effect within five seconds, an invalid one never. */
export class PricesFile {
  private table: PriceTable = NONE;
  /** The content that was read last, even if invalid: the log says so once. */
  private version = '';
  private readonly poller = new Poller({
    everyMs: LOOK_MS,
    look: () => this.look(),
    failed: (error) =>
      this.logger.warn('the prices file could not be checked; will retry', { error: String(error) }),
  });

  constructor(
    private readonly path: () => string,
    private readonly logger: Logger,
  ) {}

  get prices(): PriceTable {
    return this.table;
  }

  /** Reads it for the first time. Throws an `Error` that says what is wrong with it. */
  open(): void {
    const path = this.path();
    if (path !== '') this.read(path, versionOf(path));
    this.poller.start();
  }

  async close(): Promise<void> {
    await this.poller.stop();
  }

  private look(): void {
    const path = this.path();
    if (path === '') {
      this.table = NONE;
      this.version = '';
      return;
    }
    let version = '';
    try {
      version = versionOf(path);
      if (version === this.version) return;
      this.read(path, version);
      this.logger.info('the prices file was read again', {
        file: path,
        models: Object.keys(this.table).length,
      });
    } catch (error) {
      if (version === '' && this.version === 'gone') return;
      this.version = version || 'gone';
      this.logger.error('the prices file cannot be used; the previous prices stay in force', {
        file: path,
        error: sentenceOf(error),
      });
    }
  }

  private read(path: string, version: string): void {
    try {
      this.table = readPrices(parse(readFileSync(path, 'utf8')));
      this.version = version;
    } catch (error) {
      throw new Error(`The prices file ${path} (usage.prices_file) cannot be used: ${sentenceOf(error)}`, {
        cause: error,
      });
    }
  }
}

/** Changes with the file; throws when there is none. */
function versionOf(path: string): string {
  const { mtimeMs, size, ino } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`The prices file ${path} is larger than ${MAX_BYTES} bytes.`);
  return `${mtimeMs} ${size} ${ino}`;
}
