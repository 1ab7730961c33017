import { InboundMessageRequest } from '../../areas/channels/wire/inbound.requests.js';
import { InboundView } from '../../areas/channels/wire/inbound.views.js';
import { deliverySchemas } from '../../areas/hooks/wire/delivery.schemas.js';
import { publicName } from '../openapi/schema-names.js';
import { camelCase, type DescribedChannel, message, operation, schemaReference } from './messages.js';

const text = { type: 'string' };
/** Standard Webhooks: the same three headers in both directions. */
const SIGNATURE = {
  'webhook-id': { ...text, description: 'The same for every attempt' },
  'webhook-timestamp': { ...text, description: 'Unix seconds of the attempt', pattern: '^\\d+$' },
  'webhook-signature': { ...text, description: '`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`' },
};

/** What registered webhooks are told. */
export function deliveries(): DescribedChannel {
  const headers = { type: 'object', required: ['webhook-id', 'webhook-timestamp'], properties: SIGNATURE };
  const messages = Object.fromEntries(
    [...deliverySchemas()].map(([event, payload]) => [camelCase(event), message(event, payload, headers)]),
  );
  return {
    channel: {
      address: null,
      title: 'Webhook deliveries',
      description:
        'POSTed to the URL of every webhook that subscribed to the event; unsigned when it has no secret. At least once, and ' +
        'first attempts in the order of `sequence`. Answer with any 2xx within 15 s.',
      messages,
    },
    operations: {
      deliver: operation('send', 'deliveries', Object.keys(messages), { summary: 'Tell webhooks of events' }),
    },
  };
}

/** The models of a channel of the type webhook; no operation of the OpenAPI documents has them. */
export const INBOUND_MODELS = [InboundMessageRequest, InboundView];

/** What programs post to channels of the type `webhook`. */
export function inbound(): DescribedChannel {
  const headers = { type: 'object', required: Object.keys(SIGNATURE), properties: SIGNATURE };
  return {
    channel: {
      address: '/inbound/{channel}',
      title: 'Messages that programs post to a channel',
      description:
        'HTTP POST on the ports of both profiles, signed with the secret of the channel instead of with a token. 200 with the ' +
        'answer, or 202 when it comes later; errors are those of the API, in its envelope: 400, 401 (the signature), 403 (the ' +
        'sender), 408, 409 (the id was used for another message), 413, 415, 429, 503.',
      parameters: { channel: { description: 'The name of a configured channel of the type `webhook`' } },
      messages: {
        inboundMessage: message(
          'A message of a user',
          schemaReference(publicName(InboundMessageRequest.name)),
          headers,
        ),
        inboundAnswer: message('What became of it', schemaReference(publicName(InboundView.name))),
      },
    },
    operations: {
      receiveInbound: {
        ...operation('receive', 'inbound', ['inboundMessage'], { summary: 'Take a message of a program' }),
        reply: {
          channel: { $ref: '#/channels/inbound' },
          messages: [{ $ref: '#/channels/inbound/messages/inboundAnswer' }],
        },
      },
    },
  };
}
