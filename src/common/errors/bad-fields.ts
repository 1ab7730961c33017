import { BadRequest, type FieldProblem } from './gateway-error.js';

/** Fields past this number are only counted. */
const MAX_PROBLEMS = 20;

/** Invalid fields of a request. The sentence names each, since Profile A returns nothing else. */
export class BadFields extends BadRequest {
  constructor(readonly all: readonly FieldProblem[]) {
    const fields = all.slice(0, MAX_PROBLEMS);
    const sentence = fields.map(({ path, message }) => `${path}: ${message}`).join('; ');
    const rest = all.length - fields.length;
    super((sentence || 'The request is not valid.') + (rest > 0 ? ` (and ${rest} more)` : ''), {
      details: { fields },
    });
  }

  /** Throws unless there are none. */
  static refuse(problems: readonly FieldProblem[]): void {
    if (problems.length > 0) throw new BadFields(problems);
  }
}
