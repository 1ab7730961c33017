import { markLabels, tomlValue } from './key-labels.js';
import { childNodes, keyOf, type SettingsNode, settingsRoot } from './settings-tree.js';
import { typeText } from './type-text.js';

const preface = `# Every setting with its default. Generated from the schema in src/platform/settings; a test keeps the two equal.
#
# Copy what you change to gateway.toml, or to the file that GATEWAY_CONFIG names. Later layers win:
#   defaults < file < environment < changes made with PATCH /api/v1/config.
# A variable sets one key: [agent] max_turns is GATEWAY__AGENT__MAX_TURNS. Lists may be separated by commas.
# In text, \${NAME} is replaced by that variable, and $\${ stands for a plain \${.
`;

/** The text of `config/gateway.default.toml`: every key, explained; collections as commented examples. */
export function defaultToml(root: SettingsNode = settingsRoot()): string {
  return preface + sectionsBelow(root, '');
}

function sectionsBelow(node: SettingsNode, comment: string): string {
  return childNodes(node)
    .filter(({ kind }) => kind !== 'leaf')
    .map((child) => (child.kind === 'collection' ? sectionsBelow(child, '# ') : section(child, comment)))
    .join('');
}

function section(node: SettingsNode, comment: string): string {
  const keys = childNodes(node).filter(({ kind }) => kind === 'leaf');
  const header = keys.length === 0 ? '' : `\n${comment}[${keyOf(node)}]\n`;
  return header + keys.map((key) => entry(key, comment)).join('') + sectionsBelow(node, comment);
}

function entry({ path, schema, marks }: SettingsNode, comment: string): string {
  const facts = [typeText(schema), ...markLabels(marks)].join('; ');
  const isSet = schema.default !== undefined;
  const assignment = `${isSet ? comment : '# '}${path.at(-1)} = ${isSet ? tomlValue(schema.default) : ''}`;
  return `\n# ${schema.description ?? ''}\n# (${facts})\n${assignment.trimEnd()}\n`;
}
