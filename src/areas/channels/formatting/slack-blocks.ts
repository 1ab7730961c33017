import type { RichTextBlock, RichTextElement } from '@slack/web-api';
import { RULE, type TextBlock, type TextRun, tableBlocks, textOfBlocks } from './formatted-text.js';
import { parseMarkdown } from './markdown.js';

type RichTextPart = RichTextBlock['elements'][number];
type RichTextSection = Extract<RichTextPart, { type: 'rich_text_section' }>;

/** Slack indents lists up to here. */
const MAX_INDENT = 8;

/** A message of Slack's Web API. */
export interface SlackContent {
  /** What notifications show, and everything when there are no blocks; escaped. */
  readonly text: string;
  /** Empty when there is nothing to format: an edit then removes what was there. */
  readonly blocks: RichTextBlock[];
}

/**
 * Markdown as one block of rich text: text in it is literal, so nothing that the agent writes can notify anyone or be taken
 * for markup. A notification shows at most `longest` characters.
 */
export function slackContent(markdown: string, longest: number): SlackContent {
  const blocks = parseMarkdown(markdown);
  const text = literalText(textOfBlocks(blocks).slice(0, longest).toWellFormed());
  if (blocks.every(isPlain)) return { text, blocks: [] };
  const writer = new RichTextWriter();
  writer.blocks(blocks);
  return { text, blocks: writer.parts.length === 0 ? [] : [{ type: 'rich_text', elements: writer.parts }] };
}

/** Escapes Slack's markup; otherwise an answer could notify everyone in the channel. */
export function literalText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function isPlain(block: TextBlock): boolean {
  // A lone mark is markup in Slack's own format; as rich text it is a character.
  return block.kind === 'paragraph' && block.runs.every((run) => isPlainRun(run) && !/[*_~`]/.test(run.text));
}

function isPlainRun({ style, href, text }: TextRun): boolean {
  return Object.keys(style).length === 0 && (href === undefined || href === text);
}

class RichTextWriter {
  readonly parts: RichTextPart[] = [];
  /** The section that following paragraphs join. */
  private open: RichTextElement[] | undefined;

  blocks(blocks: readonly TextBlock[]): void {
    for (const block of blocks) this.block(block);
  }

  private block(block: TextBlock): void {
    switch (block.kind) {
      case 'paragraph':
        this.paragraph(elementsOf(block.runs));
        break;
      case 'heading':
        this.paragraph(
          elementsOf(block.runs.map((run) => ({ ...run, style: { ...run.style, bold: true } }))),
        );
        break;
      case 'code':
        this.part({ type: 'rich_text_preformatted', elements: [{ type: 'text', text: block.text }] });
        break;
      case 'quote':
        this.part({
          type: 'rich_text_quote',
          elements: [{ type: 'text', text: textOfBlocks(block.blocks) }],
        });
        break;
      case 'list':
        this.list(block, 0);
        break;
      case 'table':
        this.blocks(tableBlocks(block.head, block.rows));
        break;
      case 'rule':
        this.paragraph([{ type: 'text', text: RULE }]);
        break;
      default:
        block satisfies never;
    }
  }

  private paragraph(elements: RichTextElement[]): void {
    if (this.open === undefined) {
      this.open = [];
      if (this.parts.length > 0) this.open.push({ type: 'text', text: '\n' });
      this.parts.push({ type: 'rich_text_section', elements: this.open });
    } else {
      this.open.push({ type: 'text', text: '\n\n' });
    }
    this.open.push(...elements);
  }

  private part(part: RichTextPart): void {
    if (part.elements.length === 0) return;
    this.open = undefined;
    this.parts.push(part);
  }

  /** Items at one depth are one list; what an item has beside its first paragraph interrupts it. */
  private list({ firstNumber, items }: TextBlock & { kind: 'list' }, indent: number): void {
    let sections: RichTextSection[] = [];
    let offset = (firstNumber ?? 1) - 1;
    const flush = (next: number): void => {
      const style = firstNumber === undefined ? 'bullet' : 'ordered';
      const depth = Math.min(indent, MAX_INDENT);
      if (sections.length > 0) {
        this.part({
          type: 'rich_text_list',
          style,
          indent: depth,
          ...(offset > 0 && style === 'ordered' && { offset }),
          elements: sections,
        });
      }
      sections = [];
      offset = (firstNumber ?? 1) - 1 + next;
    };
    for (const [index, { blocks }] of items.entries()) {
      const [first, ...others] = blocks;
      const isText = first?.kind === 'paragraph' || first?.kind === 'heading';
      const elements = isText ? elementsOf(first.runs) : [];
      if (elements.length > 0) sections.push({ type: 'rich_text_section', elements });
      const rest = isText ? others : blocks;
      if (rest.length === 0) continue;
      flush(index + 1);
      for (const block of rest) {
        if (block.kind === 'list') this.list(block, indent + 1);
        else this.block(block);
      }
      this.open = undefined;
    }
    flush(items.length);
  }
}

function elementsOf(runs: readonly TextRun[]): RichTextElement[] {
  return runs.map(({ text, style, href }) => {
    const look = Object.keys(style).length === 0 ? {} : { style: { ...style } };
    if (href === undefined) return { type: 'text', text, ...look };
    return { type: 'link', url: href, ...(text !== href && { text }), ...look };
  });
}
