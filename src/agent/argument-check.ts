import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

const OPTIONS: Options = { strict: false, allErrors: true, validateFormats: false, addUsedSchema: false };

/** Arguments against the schema of one tool. */
export interface ArgumentCheck {
  /** What is wrong, in words; undefined when nothing is. */
  problem(args: Readonly<Record<string, unknown>>): string | undefined;
  /** Forgets the compiled schema: tools come and go, and the compiler keeps what it compiled. */
  forget(): void;
}

/** Compiles schemas of the dialects that tools are written in: draft 7 and its like, and 2020-12. */
export class ArgumentChecks {
  private readonly draft7 = new Ajv(OPTIONS);
  private readonly draft2020 = new Ajv2020(OPTIONS);

  /** Throws for a schema that does not compile. */
  compile(inputSchema: Readonly<Record<string, unknown>>): ArgumentCheck {
    const { $schema: dialect, $id: _id, ...schema } = inputSchema;
    const ajv = typeof dialect === 'string' && dialect.includes('2020-12') ? this.draft2020 : this.draft7;
    const validate: ValidateFunction = ajv.compile(schema);
    return {
      problem: (args) => (validate(args) ? undefined : ajv.errorsText(validate.errors)),
      forget: () => void ajv.removeSchema(schema),
    };
  }
}
