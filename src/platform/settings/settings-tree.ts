import { z } from 'zod';
import { formatPath, isTable, type Path, parsePath, readAt, type Table } from './dotted-path.js';
import { type KeyMarks, keyMarks, markLabels } from './key-marks.js';
import { type GatewaySettings, settingsSchema } from './settings.schema.js';

/** A `leaf` is a key; a `section` has named keys; a `collection` is a table of named things, each a section. */
export type NodeKind = 'section' | 'collection' | 'leaf';

/** One node in the tree of settings, with the marks that apply to it. */
export interface SettingsNode {
  readonly path: Path;
  readonly kind: NodeKind;
  readonly schema: SettingsJsonSchema;
  readonly marks: KeyMarks;
}

/** Stands for the name of a thing in a collection, as in `mcp.servers.<name>.url`. */
const anyName = '<name>';

/** The whole tree; or, given a node of another schema, the tree below it. */
export function settingsRoot(schema: SettingsJsonSchema = wholeSchema()): SettingsNode {
  return { path: [], kind: 'section', schema, marks: {} };
}

/** The nodes directly below: the keys of a section, or the one node that stands for every thing of a collection. */
export function childNodes(node: SettingsNode): readonly SettingsNode[] {
  if (node.kind === 'leaf') return [];
  if (node.kind === 'collection') return [childNode(node, anyName)].filter((child) => child !== undefined);
  return Object.keys(node.schema.properties ?? {}).flatMap((name) => childNode(node, name) ?? []);
}

/** The node of that name directly below; within a leaf, an element of its list or an entry of its table. */
export function childNode(node: SettingsNode, name: string): SettingsNode | undefined {
  const schema = childSchema(node.schema, name);
  if (schema === undefined) return undefined;
  const kind = node.kind === 'leaf' ? 'leaf' : kindOf(schema);
  return { path: [...node.path, name], kind, schema, marks: { ...node.marks, ...schema['x-marks'] } };
}

/** The node at a path; `undefined` when the schema has no such key. */
export function nodeAt(path: Path, root: SettingsNode = settingsRoot()): SettingsNode | undefined {
  return path.reduce<SettingsNode | undefined>((node, name) => node && childNode(node, name), root);
}

/** The node of a dotted key; `undefined` when the schema has no such key. */
export function nodeOf(key: string): SettingsNode | undefined {
  const path = parsePath(key);
  return path && nodeAt(path);
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

/** One key with its value. Within a collection the key has the real name, not `<name>`. */
export interface SettingValue {
  readonly key: string;
  readonly node: SettingsNode;
  readonly value: unknown;
}

/** Every key of these settings, or of a tree of the same shape, with its value, in the order of the tree. */
export function settingValues(settings: GatewaySettings | Table): readonly SettingValue[] {
  return valuesBelow(settingsRoot(), settings);
}

/** Every key below a node of the schema; skips names that the schema does not know. */
function valuesBelow(node: SettingsNode, value: unknown): readonly SettingValue[] {
  if (node.kind === 'leaf') return [{ key: keyOf(node), node, value }];
  if (!isTable(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const child = childNode(node, name);
    return child === undefined ? [] : valuesBelow(child, readAt(value, [name]));
  });
}

/**
 * A node of the configuration's JSON Schema (2020-12), with the parts that are read here. The marks are `x-marks` and,
 * in words, `$comment`.
 */
export interface SettingsJsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, SettingsJsonSchema>>;
  readonly items?: SettingsJsonSchema;
  readonly anyOf?: readonly SettingsJsonSchema[];
  readonly additionalProperties?: SettingsJsonSchema | boolean;
  readonly 'x-marks'?: KeyMarks;
}

/** The JSON Schema of the configuration file, for editors and for the tree of keys. */
export function jsonSchema(schema: z.ZodType = settingsSchema): SettingsJsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema: node }) => {
      const marks = keyMarks.get(zodSchema);
      if (marks !== undefined) {
        node['x-marks'] = marks;
        node.$comment = markLabels(marks).join('; ');
      }
      if (marks?.secret) node.writeOnly = true;
      if (node.type === 'object' && node.properties !== undefined) delete node.default;
    },
  }) as SettingsJsonSchema;
}
