import { BadRequest, type FieldProblem } from './gateway-error.js';

/** So many are told at once. */
const MOST_PROBLEMS = 20;

/** Fields of a request that are not as they have to be, all that were found: the sentence names the first. */
export class BadFields extends BadRequest {
  constructor(all: readonly FieldProblem[]) {
    const fields = all.slice(0, MOST_PROBLEMS);
    const [first] = fields;
    const sentence = first === undefined ? 'The request is not valid.' : `${first.path}: ${first.message}`;
    super(fields.length > 1 ? `${sentence} (and ${fields.length - 1} more)` : sentence, {
      details: { fields },
    });
  }

  /** Throws unless there are none. */
  static refuse(problems: readonly FieldProblem[]): void {
    if (problems.length > 0) throw new BadFields(problems);
  }
}
