import { BadRequest, NotFound } from '../errors/gateway-error.js';
import { EVENT_NAMES } from '../events/event-catalogue.js';

export class HookNotFound extends NotFound {
  constructor() {
    super('There is no such webhook.');
  }
}

export class TooManyHooks extends BadRequest {
  constructor(most: number) {
    super(`There are ${most} webhooks already, which is the most. Delete one first.`, {
      details: { reason: 'too_many_hooks' },
    });
  }
}

export class BadHookUrl extends BadRequest {
  constructor(message: string) {
    super(`url: ${message}`, { details: { fields: [{ path: 'url', message }] } });
  }
}

export class BadHookSecret extends BadRequest {
  constructor(message: string) {
    super(`secret: ${message}`, { details: { fields: [{ path: 'secret', message }] } });
  }
}

export class UnknownEvent extends BadRequest {
  constructor(index: number) {
    const path = `events.${index}`;
    const message = `is not a known event; known: ${EVENT_NAMES.join(', ')}, and patterns such as session.* and *`;
    super(`${path}: ${message}`, { details: { fields: [{ path, message }] } });
  }
}
