/** Nothing can be done in this conversation now; somebody looks again after `afterMs`. */
export class RetryLater extends Error {
  override readonly name = 'LookLater';

  constructor(
    reason: string,
    readonly afterMs: number,
  ) {
    super(reason);
  }
}
