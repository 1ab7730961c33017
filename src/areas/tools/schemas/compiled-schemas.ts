import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

const OPTIONS: Options = {
  ...{ strict: false, allErrors: true, validateFormats: false, addUsedSchema: false },
  // Otherwise a definition that is referred to a thousand times is compiled a thousand times.
  inlineRefs: false,
};
const MAX_SENTENCE_CHARS = 2000;

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema ready for use. */
export interface CompiledSchema {
  /** What is wrong with the value, in at most 2,000 characters; undefined when nothing is. */
  problem(value: unknown): string | undefined;
  /** Frees what the compiler keeps of it. */
  forget(): void;
}

/**
 * Compiles schemas of the dialects that tools use: draft 7 and its like, and 2020-12. A malicious schema can make both
 * compiling and checking take for ever: other people's schemas belong in a `SchemaThread`.
 */
export class CompiledSchemas {
  private readonly draft7: Ajv;
  private readonly draft2020: Ajv2020;

  /** Our own schemas are right: they are not checked against the schema of schemas, whose compilation takes 0.1 s. */
  constructor({ areOurs = false } = {}) {
    const options = { ...OPTIONS, validateSchema: !areOurs };
    this.draft7 = new Ajv(options);
    this.draft2020 = new Ajv2020(options);
  }

  /** Throws for a schema that does not compile. */
  compile(written: JsonSchema): CompiledSchema {
    const { $schema: dialect, $id: _id, ...schema } = written;
    const ajv = typeof dialect === 'string' && dialect.includes('2020-12') ? this.draft2020 : this.draft7;
    const validate: ValidateFunction = ajv.compile(schema);
    return {
      problem: (value) =>
        validate(value) ? undefined : ajv.errorsText(validate.errors).slice(0, MAX_SENTENCE_CHARS),
      forget: () => void ajv.removeSchema(schema),
    };
  }
}
