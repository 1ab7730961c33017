// What a model is told when something cannot be remembered or forgotten.

export class NotPersonal extends Error {
  constructor() {
    super(
      'Nothing is remembered in this session: it was made without a user_id, or several people take part in it.',
    );
  }
}

export class NothingToRemember extends Error {
  constructor() {
    super('The content is empty.');
  }
}

export class ContentTooLong extends Error {
  constructor(bytes: number, most: number) {
    super(
      `The content has ${bytes} bytes; at most ${most} are remembered. Keep what matters, or store it in parts.`,
    );
  }
}

export class NoSearchTerms extends Error {
  constructor() {
    super('There is no word in this query by which something could be found. Name ids instead.');
  }
}
