import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import type { ResponseFormat } from '../../model-provider.port.js';
import { isRecord } from '../protocol/tool-arguments.js';

type Schema = Readonly<Record<string, unknown>>;

/** Models that are older than the wire's field for the form of an answer. */
const WITHOUT_FIELD = /^claude-(\d|instant|(sonnet|opus)-4(-0|-20\d{6})?$)/;

/** How a model is told the form of its answer: in the wire's field, or in words after the history. */
export interface AnswerFormat {
  readonly schema?: Record<string, unknown>;
  readonly words?: string;
}

/**
 * The wire accepts a part of JSON Schema: every object is closed and names its properties, and nothing refers to
 * itself. Bounds of values go into descriptions. Any other schema is described in words, since the answer is checked
 * anyway.
 */
export function answerFormat(format: ResponseFormat, model: string): AnswerFormat {
  const schema = described(format);
  if (!WITHOUT_FIELD.test(model) && isTaken(schema, definitionsOf(schema), []))
    return { schema: transformJSONSchema(schema) };
  return {
    words: `Answer with JSON alone, without code fences, that fits this JSON Schema: ${JSON.stringify(schema)}`,
  };
}

/** The wire has no field for the purpose of an answer except the schema's description. */
function described({ description = '', schema }: ResponseFormat): Schema {
  const own = typeof schema['description'] === 'string' ? schema['description'] : '';
  if (description === '' || own.includes(description)) return schema;
  const whole: Schema = { ...schema, description: [description, own].filter(Boolean).join('\n\n') };
  // Beside a reference it would be ignored.
  if (schema['$ref'] === undefined) return whole;
  const { $ref: reference, ...others } = whole;
  return { ...others, allOf: [{ $ref: reference }] };
}

function definitionsOf({ $defs }: Schema): Schema {
  return isRecord($defs) ? $defs : {};
}

/** @param within names of definitions that this is a part of */
function isTaken(schema: unknown, definitions: Schema, within: readonly string[]): boolean {
  if (!isRecord(schema)) return false;
  const areTaken = (parts: readonly unknown[]) => parts.every((part) => isTaken(part, definitions, within));
  if (within.length === 0 && !areKnown(schema['$defs'], definitions)) return false;
  if (schema['$ref'] !== undefined) return isTakenReference(schema['$ref'], definitions, within);
  const choice = schema['anyOf'] ?? schema['oneOf'];
  if (choice !== undefined || schema['allOf'] !== undefined)
    return Array.isArray(choice) && isAlone(schema) && areTaken(choice);
  if (isLiteral(schema)) return true;
  switch (schema['type']) {
    case 'object':
      return isClosed(schema) && areTaken(Object.values(schema['properties'] as Schema));
    case 'array':
      return areTaken([schema['items']]);
    default:
      return areSimple(schema['type']);
  }
}

/** Definitions belong at the top; elsewhere their names would mean something else. */
function areKnown(given: unknown, definitions: Schema): boolean {
  return given === undefined || given === definitions;
}

function isTakenReference(reference: unknown, definitions: Schema, within: readonly string[]): boolean {
  const name = typeof reference === 'string' ? /^#\/\$defs\/([\w.-]+)$/.exec(reference)?.[1] : undefined;
  if (name === undefined || !Object.hasOwn(definitions, name) || within.includes(name)) return false;
  return isTaken(definitions[name], definitions, [...within, name]);
}

const BESIDE_A_CHOICE = new Set(['anyOf', 'oneOf', '$defs', '$schema', 'title', 'description']);

function isAlone(schema: Schema): boolean {
  const keys = Object.keys(schema);
  return keys.every((key) => BESIDE_A_CHOICE.has(key)) && !(keys.includes('anyOf') && keys.includes('oneOf'));
}

function isLiteral({ enum: values = [], const: value }: Schema): boolean {
  const all = value === undefined ? values : [value];
  return Array.isArray(all) && all.length > 0 && all.every((one) => one === null || typeof one !== 'object');
}

/** Whether closing it removes nothing that its author intended. */
function isClosed({ properties, additionalProperties: more = false, ...others }: Schema): boolean {
  if (!isRecord(properties) || Object.keys(properties).length === 0) return false;
  return more === false && others['patternProperties'] === undefined && others['definitions'] === undefined;
}

const SIMPLE = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'null']);

function areSimple(type: unknown): boolean {
  return Array.isArray(type) ? type.length > 0 && type.every((one) => SIMPLE.has(one)) : SIMPLE.has(type);
}
