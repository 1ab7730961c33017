/** One value that a tool asks for. */
export interface QuestionField {
  readonly name: string;
  readonly title: string;
  readonly hint: string | undefined;
  readonly kind: string;
  /** The values of a choice; empty for everything else. */
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly fallback: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** The fields of a question's schema, which the protocol keeps flat. Leaves the checks to the gateway. */
export function fieldsOf(schema: unknown): readonly QuestionField[] {
  return Object.entries(objectOf(objectOf(schema)['properties'])).map(([name, given]) => {
    const field = objectOf(given);
    return {
      name,
      title: textOf(field['title']) ?? name,
      hint: textOf(field['description']),
      kind: textOf(field['type']) ?? 'string',
      options: optionsOf(field),
      fallback: defaultOf(field['default']),
    };
  });
}

/** The value in the type that its field needs; lists are entered with commas. */
export function answerOf({ kind }: QuestionField, text: string): unknown {
  if (kind === 'boolean') return text === 'true';
  if (kind === 'array') return text.split(',').map((one) => one.trim());
  const isNumber = kind === 'number' || kind === 'integer';
  return isNumber && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

function optionsOf(field: Json): readonly (readonly [string, string])[] {
  if (field['type'] === 'boolean')
    return [
      ['true', 'Yes'],
      ['false', 'No'],
    ];
  const values = listOf(field['enum']).map(String);
  const names = listOf(field['enumNames']).map(String);
  if (values.length > 0) return values.map((value, index) => [value, names[index] ?? value] as const);
  return listOf(field['oneOf']).flatMap((one) => {
    const { const: value, title } = objectOf(one);
    const text = textOf(value);
    return text === undefined ? [] : [[text, textOf(title) ?? text] as const];
  });
}

function defaultOf(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : textOf(value);
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
