import { Injectable } from '@nestjs/common';
import { Redactor } from '../logging/redactor.js';
import { Settings } from '../settings/settings.js';

/** The most characters of one text, and of all texts of one attribute. */
const MAX_TEXT_CHARS = 8192;
const MAX_ATTRIBUTE_CHARS = 32_768;

/**
 * What was said, in a form that is fit for a span: without secrets, and bounded. Present only while
 * `tracing.include_content` is on.
 */
@Injectable()
export class SpanContent {
  constructor(
    private readonly settings: Settings,
    private readonly redactor: Redactor,
  ) {}

  get isWanted(): boolean {
    return this.settings.current.tracing.include_content;
  }

  /** The text without secrets, which are removed before it is cut. */
  text(text: string): string {
    const clean = this.redactor.redact(text);
    if (clean.length <= MAX_TEXT_CHARS) return clean;
    return `${clean.slice(0, MAX_TEXT_CHARS)}[cut: ${clean.length} characters in all]`;
  }

  /**
   * As many of the newest as fit, as JSON; `make` calls `text` for each text it takes. At least one, if there is any.
   */
  newest<Item>(items: readonly Item[], make: (item: Item) => object): string {
    const made: string[] = [];
    let chars = 0;
    for (const item of items.toReversed()) {
      const json = JSON.stringify(make(item));
      chars += json.length;
      if (chars > MAX_ATTRIBUTE_CHARS && made.length > 0) break;
      made.push(
        json.length <= MAX_ATTRIBUTE_CHARS ? json : JSON.stringify({ left_out: `${json.length} characters` }),
      );
    }
    return `[${made.reverse().join(',')}]`;
  }
}
