import type { MessageEntity } from 'grammy/types';
import { itemMarker, RULE, type TextBlock, type TextRun, tableBlocks } from './formatted-text.js';
import { parseMarkdown } from './markdown.js';

/** Telegram ignores further ones. */
const MAX_ENTITIES = 100;

/** A message of the Bot API: text, and what of it looks how, in UTF-16 code units. */
export interface TelegramText {
  readonly text: string;
  readonly entities: MessageEntity[];
}

/**
 * Markdown as text with entities (Bot API, MessageEntity): there is nothing in it that Telegram would have to parse, so no
 * answer is refused for its form. Text that becomes longer than `longest` by it stays as it was written.
 */
export function telegramText(markdown: string, longest: number): TelegramText {
  const writer = new EntityWriter();
  writer.blocks(parseMarkdown(markdown), '');
  return writer.text === '' || writer.text.length > longest
    ? { text: markdown, entities: [] }
    : { text: writer.text, entities: writer.entities.slice(0, MAX_ENTITIES) };
}

class EntityWriter {
  text = '';
  readonly entities: MessageEntity[] = [];
  private quotes = 0;

  /** `indent` stands before each further line. */
  blocks(blocks: readonly TextBlock[], indent: string): void {
    for (const [index, block] of blocks.entries()) {
      if (index > 0) this.text += isTight(blocks[index - 1], block) ? `\n${indent}` : `\n\n${indent}`;
      this.block(block, indent);
    }
  }

  private block(block: TextBlock, indent: string): void {
    switch (block.kind) {
      case 'paragraph':
        this.runs(block.runs, indent);
        break;
      case 'heading':
        this.marked('bold', () => this.runs(block.runs, indent));
        break;
      case 'code':
        this.code(block.text, block.language);
        break;
      case 'quote':
        this.quote(block.blocks, indent);
        break;
      case 'list':
        for (const [index, item] of block.items.entries()) {
          if (index > 0) this.text += `\n${indent}`;
          this.text += itemMarker(block.firstNumber, index);
          this.blocks(item.blocks, `${indent}   `);
        }
        break;
      case 'table':
        this.blocks(tableBlocks(block.head, block.rows), indent);
        break;
      case 'rule':
        this.text += RULE;
        break;
      default:
        block satisfies never;
    }
  }

  /** Quotes cannot be nested at Telegram; the outermost is shown. */
  private quote(blocks: readonly TextBlock[], indent: string): void {
    this.quotes += 1;
    if (this.quotes > 1) this.blocks(blocks, indent);
    else this.marked('blockquote', () => this.blocks(blocks, indent));
    this.quotes -= 1;
  }

  private runs(runs: readonly TextRun[], indent: string): void {
    for (const run of runs) {
      const offset = this.text.length;
      this.text += run.text.replaceAll('\n', `\n${indent}`);
      const length = this.text.length - offset;
      if (run.text.trim() === '') continue;
      if (run.href !== undefined && run.href !== run.text) {
        this.entities.push({ type: 'text_link', offset, length, url: run.href });
      }
      if (run.style.code === true) this.entities.push({ type: 'code', offset, length });
      if (run.style.bold === true) this.entities.push({ type: 'bold', offset, length });
      if (run.style.italic === true) this.entities.push({ type: 'italic', offset, length });
      if (run.style.strike === true) this.entities.push({ type: 'strikethrough', offset, length });
    }
  }

  private code(text: string, language: string): void {
    const offset = this.text.length;
    this.text += text;
    const { length } = text;
    this.entities.push(
      language === '' ? { type: 'pre', offset, length } : { type: 'pre', offset, length, language },
    );
  }

  private marked(type: 'bold' | 'blockquote', write: () => void): void {
    const offset = this.text.length;
    const entity = { type, offset, length: 0 };
    this.entities.push(entity);
    write();
    entity.length = this.text.length - offset;
  }
}

/** Whether two blocks follow each other without an empty line: a list belongs to the sentence before it. */
function isTight(before: TextBlock | undefined, block: TextBlock): boolean {
  return block.kind === 'list' && (before?.kind === 'paragraph' || before?.kind === 'heading');
}
