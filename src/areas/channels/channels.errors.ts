import { Conflict, Forbidden, NotFound, Unauthorized } from '../../common/errors/gateway-error.js';
import type { SignatureProblem } from '../hooks/hooks.api.js';

export class ChannelNotFound extends NotFound {
  constructor() {
    super('There is no such channel. GET /channels lists those there are.');
  }
}

export class ChannelDisabled extends Conflict {
  constructor(name: string) {
    super(`The channel is disabled. Set channels_config.${name}.enabled to true.`, {
      details: { reason: 'channel_disabled' },
    });
  }
}

const SENTENCES: Readonly<Record<SignatureProblem, string>> = {
  unsigned: 'The message has to be signed: send webhook-id, webhook-timestamp and webhook-signature.',
  wrong: 'The signature does not match this message.',
  stale: 'The message was signed more than five minutes ago, or the clocks differ.',
};

/** Also thrown for an unknown channel, so that the names of channels cannot be guessed. */
export class NotSigned extends Unauthorized {
  constructor(problem: SignatureProblem) {
    super(SENTENCES[problem], {
      headers: { 'WWW-Authenticate': 'Signature realm="agent-gateway"' },
      details: { reason: `signature_${problem}` },
    });
  }
}

/** Also thrown for an unknown channel, so that the names of channels cannot be guessed. */
export class NotFromConnector extends Unauthorized {
  constructor() {
    super(
      'The request has to carry a token that the connector of Microsoft Teams issued to the app of this channel, for this address and platform.',
      {
        headers: { 'WWW-Authenticate': 'Bearer realm="agent-gateway"' },
        details: { reason: 'not_from_connector' },
      },
    );
  }
}

export class SenderNotAllowed extends Forbidden {
  constructor() {
    super('This user may not write here: allowed_users of the channel does not name them.', {
      details: { reason: 'sender_not_allowed' },
    });
  }
}

export class WebhookIdReused extends Conflict {
  constructor() {
    super('This webhook-id was used for another message. Give every message an id of its own.', {
      details: { reason: 'webhook_id_reused' },
    });
  }
}
