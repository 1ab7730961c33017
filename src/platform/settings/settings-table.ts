import { marksInWords, tomlValue } from './key-words.js';
import { keyOf, leafNodes, type SettingsNode } from './settings-tree.js';
import { typeInWords } from './type-words.js';

/** Every key as a Markdown table, for the README. */
export function settingsTable(): string {
  const head = ['| Key | What it does | Type | Default | Marks |', '| --- | --- | --- | --- | --- |'];
  return `${[...head, ...leafNodes().map(row)].join('\n')}\n`;
}

function row(node: SettingsNode): string {
  const { schema, marks } = node;
  const fallback = schema.default === undefined ? 'none' : `\`${tomlValue(schema.default)}\``;
  const cells = [
    `\`${keyOf(node)}\``,
    schema.description ?? '',
    typeInWords(schema),
    fallback,
    marksInWords(marks).join('; '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
