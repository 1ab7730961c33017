import { BadRequest, type FieldProblem, NotFound } from '../../common/errors/gateway-error.js';

/** A parameter of OpenAI's API that is refused rather than ignored. */
export class UnsupportedParameter extends BadRequest {
  constructor(path: string, why = 'is not supported here; leave it out') {
    super(`${path}: ${why}`, {
      details: { reason: 'unsupported_parameter', fields: [{ path, message: why }] },
    });
  }
}

/** A parameter with a value that cannot be. */
export class InvalidParameter extends BadRequest {
  constructor({ path, message }: FieldProblem) {
    super(`${path}: ${message}`, { details: { reason: 'invalid_value', fields: [{ path, message }] } });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  id: 'response_not_found',
  previous_response_id: 'previous_response_not_found',
};

/** Also for somebody else's response. */
export class ResponseNotFound extends NotFound {
  /** @param path of the parameter, or of an item in it */
  constructor(path: string) {
    const reason = REASONS[path] ?? 'item_not_found';
    const what = path in REASONS ? 'response' : 'item of a response';
    super(`There is no such ${what}, or it is not yours.`, {
      details: { reason, fields: [{ path, message: 'does not exist' }] },
    });
  }
}

/** Also for an agent or a model that this caller may not use. */
export class ModelNotFound extends NotFound {
  constructor(name: string) {
    const shown = name.length > 64 ? `of ${name.length} characters` : `"${name}"`;
    super(
      `The model ${shown} does not exist or you may not use it. GET /v1/models lists those that you may.`,
      {
        details: { reason: 'model_not_found', fields: [{ path: 'model', message: 'does not exist' }] },
      },
    );
  }
}

/** Also for somebody else's session. */
export class SessionToContinueNotFound extends NotFound {
  /** @param path of the parameter */
  constructor(path: string) {
    super('There is no such session, or it is not yours. Leave it out for a completion without one.', {
      details: { reason: 'session_not_found', fields: [{ path, message: 'does not exist' }] },
    });
  }
}
