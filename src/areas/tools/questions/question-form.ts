export type QuestionValue = string | number | boolean | readonly string[];

type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';

interface Option {
  readonly value: string;
  readonly title: string;
}

/** One value that is asked for. */
export interface QuestionField {
  readonly name: string;
  readonly title: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  /** Of choices; empty for everything else. */
  readonly options: readonly Option[];
  /** Characters of a text, the value of a number, or how many may be chosen. */
  readonly least: number;
  readonly most: number;
  readonly fallback: QuestionValue | undefined;
}

/** The schema of a question does not fit what people can be asked. */
export class BadQuestion extends Error {
  override readonly name = 'BadQuestion';
}

const MAX_FIELDS = 32;
const MAX_OPTIONS = 100;
const MAX_SCHEMA_CHARACTERS = 16_384;
const MAX_ANSWER_CHARACTERS = 16_384;

type Json = Readonly<Record<string, unknown>>;

/**
 * The fields of a question's schema, which by the protocol is flat: texts, numbers, yes or no, and choices. Throws
 * `BadQuestion` for any other, and for one with more than 32 fields, 100 options or 16,384 characters.
 */
export function formOf(schema: Json): readonly QuestionField[] {
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARACTERS)
    throw new BadQuestion(`its schema has more than ${MAX_SCHEMA_CHARACTERS} characters`);
  const entries = Object.entries(objectOf(schema['properties']));
  if (entries.length > MAX_FIELDS) throw new BadQuestion(`it has more than ${MAX_FIELDS} fields`);
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  return entries.map(([name, field]) => fieldOf(name, objectOf(field), required.includes(name)));
}

/** The content with the question's defaults for what it leaves out. */
export function withFallbacks(form: readonly QuestionField[], content: Json): Json {
  const left = form.flatMap(({ name, fallback }) =>
    fallback === undefined || Object.hasOwn(content, name) ? [] : [[name, fallback] as const],
  );
  return { ...Object.fromEntries(left), ...content };
}

/** What is wrong with the content of an answer; undefined when it fits. */
export function contentProblem(form: readonly QuestionField[], content: Json): string | undefined {
  if (JSON.stringify(content).length > MAX_ANSWER_CHARACTERS)
    return `has more than ${MAX_ANSWER_CHARACTERS} characters`;
  const known = new Set(form.map(({ name }) => name));
  const unknown = Object.keys(content).find((name) => !known.has(name));
  if (unknown !== undefined) return `"${unknown.slice(0, 64)}" is not asked for`;
  for (const field of form) {
    const value = content[field.name];
    const problem = value === undefined ? missing(field) : misfit(field, value);
    if (problem !== undefined) return `"${field.name.slice(0, 64)}" ${problem}`;
  }
  return undefined;
}

function missing({ isRequired }: QuestionField): string | undefined {
  return isRequired ? 'is missing' : undefined;
}

function misfit(field: QuestionField, value: unknown): string | undefined {
  switch (field.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'choice':
      return isOption(field, value) ? undefined : `must be one of ${namesOf(field)}`;
    case 'choices':
      return listMisfit(field, value);
    case 'text':
      if (typeof value !== 'string') return 'must be a text';
      return within(value.length, field) ? undefined : `must have ${boundsText(field)} characters`;
    case 'number':
    case 'integer':
      return numberMisfit(field, value);
    default:
      return field.kind satisfies never;
  }
}

function listMisfit(field: QuestionField, value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.every((one) => isOption(field, one));
  if (!isList) return `must be a list of ${namesOf(field)}`;
  return within(value.length, field) ? undefined : `must be a list of ${boundsText(field)}`;
}

function numberMisfit(field: QuestionField, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  if (field.kind === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
  return within(value, field) ? undefined : `must be from ${boundsText(field)}`;
}

function isOption({ options }: QuestionField, value: unknown): boolean {
  return options.some((option) => option.value === value);
}

function namesOf({ options }: QuestionField): string {
  return options.map((option) => option.value).join(', ');
}

function boundsText({ least, most }: QuestionField): string {
  return `${least} to ${most}`;
}

function within(value: number, { least, most }: QuestionField): boolean {
  return value >= least && value <= most;
}

function fieldOf(name: string, schema: Json, isRequired: boolean): QuestionField {
  const kind = kindOf(name, schema);
  const options = optionsOf(kind === 'choices' ? objectOf(schema['items']) : schema);
  if (options.length > MAX_OPTIONS) throw new BadQuestion(`"${name}" has more than ${MAX_OPTIONS} options`);
  const [least, most] = boundsOf(kind, schema);
  const fallback = schema['default'] as QuestionValue | undefined;
  const title = typeof schema['title'] === 'string' ? schema['title'] : name;
  return { name, title, kind, isRequired, options, least, most, fallback };
}

function kindOf(name: string, schema: Json): FieldKind {
  const { type } = schema;
  if (type === 'boolean' || type === 'number' || type === 'integer') return type;
  if (type === 'array' && optionsOf(objectOf(schema['items'])).length > 0) return 'choices';
  if (type === 'string') return optionsOf(schema).length > 0 ? 'choice' : 'text';
  throw new BadQuestion(
    `"${name.slice(0, 64)}" is no text, number, boolean or choice, and people are asked for nothing else`,
  );
}

function optionsOf(schema: Json): readonly Option[] {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values)) {
    return values.map((value, index) => {
      const title: unknown = Array.isArray(names) ? names[index] : undefined;
      return { value: String(value), title: typeof title === 'string' ? title : String(value) };
    });
  }
  const titled = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(titled)) return [];
  return titled.map((one) => {
    const { const: value, title } = objectOf(one);
    return { value: String(value), title: typeof title === 'string' ? title : String(value) };
  });
}

function boundsOf(kind: FieldKind, schema: Json): readonly [number, number] {
  const [low, high] =
    kind === 'choices'
      ? ['minItems', 'maxItems']
      : kind === 'text'
        ? ['minLength', 'maxLength']
        : ['minimum', 'maximum'];
  const isNumber = kind === 'number' || kind === 'integer';
  return [numberOf(schema[low], isNumber ? -Infinity : 0), numberOf(schema[high], Infinity)];
}

function numberOf(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
