import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';

const MAX_CHARACTERS = 1_048_576;

/** What a tool answered, as text for a model. What is no text is named, not shown. */
export function toolOutput({ content, structuredContent }: CallToolResult): string {
  const texts = content.map(blockText);
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
  return texts.join('\n').slice(0, MAX_CHARACTERS);
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type} ${block.mimeType}, ${Math.floor((block.data.length * 3) / 4)} bytes]`;
    case 'resource_link':
      return `[resource ${block.name}: ${block.uri}]`;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource ${block.resource.uri}]`;
    default:
      return block satisfies never;
  }
}
