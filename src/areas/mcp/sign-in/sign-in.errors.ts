import { BadRequest, Conflict, ProviderFailed } from '../../../common/errors/gateway-error.js';

/** 409: the settings do not let anybody sign in there. */
export class NoSignInThere extends Conflict {
  constructor(name: string) {
    super(`Nobody signs in to "${name}": its settings have no oauth_sign_in = true.`, {
      details: { reason: 'no_sign_in' },
    });
  }
}

/** 502: the tool server or its authorization server does not play its part. */
export class SignInFailed extends ProviderFailed {
  constructor(server: string, reason: string) {
    super(`The sign-in to ${server} could not begin: ${reason}`, { details: { reason: 'sign_in_failed' } });
  }
}

/** 400 for the browser that comes back; the message is what the person reads. */
export class SignInRefused extends BadRequest {
  constructor(reason: string) {
    super(`${reason} Ask for a new link with: agent-gateway mcp sign-in <server>`, {
      details: { reason: 'sign_in_refused' },
    });
  }
}
