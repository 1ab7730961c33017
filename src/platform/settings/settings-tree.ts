import { formatPath, type Path } from './dotted-path.js';
import { jsonSchema, type SettingsJsonSchema } from './json-schema.js';
import type { KeyMarks } from './key-marks.js';

/** `leaf` is a key; `section` has named keys; `collection` is a table of named things, each a section. */
export type NodeKind = 'section' | 'collection' | 'leaf';

/** One node in the tree of settings, with the marks that hold there. */
export interface SettingsNode {
  readonly path: Path;
  readonly kind: NodeKind;
  readonly schema: SettingsJsonSchema;
  readonly marks: KeyMarks;
}

/** Stands for the name of a thing in a collection, as in `mcp.servers.<name>.url`. */
const anyName = '<name>';

/** The whole tree; a node of some other schema's tree when given one. */
export function settingsRoot(schema: SettingsJsonSchema = wholeSchema()): SettingsNode {
  return { path: [], kind: 'section', schema, marks: {} };
}

/** The nodes directly below: the keys of a section, or the one that stands for every thing of a collection. */
export function childNodes(node: SettingsNode): readonly SettingsNode[] {
  if (node.kind === 'leaf') return [];
  if (node.kind === 'collection') return [childNode(node, anyName)].filter((child) => child !== undefined);
  return Object.keys(node.schema.properties ?? {}).flatMap((name) => childNode(node, name) ?? []);
}

/** The node of that name directly below; inside a leaf, an element of its list or an entry of its table. */
export function childNode(node: SettingsNode, name: string): SettingsNode | undefined {
  const schema = childSchema(node.schema, name);
  if (schema === undefined) return undefined;
  const kind = node.kind === 'leaf' ? 'leaf' : kindOf(schema);
  return { path: [...node.path, name], kind, schema, marks: { ...node.marks, ...schema['x-marks'] } };
}

/** The node at a path; `undefined` when the schema knows no such key. */
export function nodeAt(path: Path, root: SettingsNode = settingsRoot()): SettingsNode | undefined {
  return path.reduce<SettingsNode | undefined>((node, name) => node && childNode(node, name), root);
}

/** Every key in the order of the schema; a key of a collection once, under `<name>`. */
export function leafNodes(node: SettingsNode = settingsRoot()): readonly SettingsNode[] {
  return node.kind === 'leaf' ? [node] : childNodes(node).flatMap((child) => leafNodes(child));
}

/** The dotted key of a node. */
export function keyOf(node: SettingsNode): string {
  return formatPath(node.path);
}

function childSchema(schema: SettingsJsonSchema, name: string): SettingsJsonSchema | undefined {
  const { properties, additionalProperties, items } = schema;
  if (properties !== undefined) return Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (items !== undefined) return /^\d+$/.test(name) ? items : undefined;
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function kindOf({ properties, additionalProperties }: SettingsJsonSchema): NodeKind {
  if (properties !== undefined) return 'section';
  const hasSections =
    typeof additionalProperties === 'object' && additionalProperties.properties !== undefined;
  return hasSections ? 'collection' : 'leaf';
}

let whole: SettingsJsonSchema | undefined;

function wholeSchema(): SettingsJsonSchema {
  whole ??= jsonSchema();
  return whole;
}
