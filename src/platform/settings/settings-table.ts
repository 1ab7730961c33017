import { markLabels, tomlValue } from './key-labels.js';
import { keyOf, leafNodes, type SettingsNode } from './settings-tree.js';
import { typeText } from './type-text.js';

/** Every key as a Markdown table, for docs/configuration.md. */
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
    typeText(schema),
    fallback,
    markLabels(marks).join('; '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
