import { createContext, Script } from 'node:vm';
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

const OPTIONS: Options = {
  ...{ strict: false, allErrors: true, validateFormats: false, addUsedSchema: false },
  // Else what is referred to a thousand times is compiled a thousand times.
  inlineRefs: false,
};
const LONGEST_MS = 250;

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
  private readonly limit = new TimeLimit();

  /** Throws for a schema that does not compile. */
  compile(inputSchema: Readonly<Record<string, unknown>>): ArgumentCheck {
    const { $schema: dialect, $id: _id, ...schema } = inputSchema;
    const ajv = typeof dialect === 'string' && dialect.includes('2020-12') ? this.draft2020 : this.draft7;
    const validate: ValidateFunction = ajv.compile(schema);
    const problem = (args: unknown) => (validate(args) ? undefined : ajv.errorsText(validate.errors));
    return {
      problem: (args) =>
        this.limit.run(() => problem(args), 'the schema of this tool takes too long to check them'),
      forget: () => void ajv.removeSchema(schema),
    };
  }
}

/**
 * Schemas are written by tool servers and plugins: a pattern of theirs, or references that branch, may take for ever, and
 * the whole process would wait for it.
 */
class TimeLimit {
  private readonly script = new Script('work()');
  private readonly context: { work?: () => unknown } = createContext({});

  /** @returns what the work returns, or what to say when it was broken off */
  run<Result>(work: () => Result, late: Result): Result {
    this.context.work = work;
    try {
      return this.script.runInContext(this.context, { timeout: LONGEST_MS }) as Result;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      return late;
    } finally {
      delete this.context.work;
    }
  }
}
