import {
  camelCase,
  type DescribedChannel,
  message,
  operation,
  SIGNATURE_HEADERS,
} from '../../../http/asyncapi/messages.js';
import { deliverySchemas } from './delivery.schemas.js';

/** What registered webhooks are told. */
export function deliveries(): DescribedChannel {
  const headers = {
    type: 'object',
    required: ['webhook-id', 'webhook-timestamp'],
    properties: SIGNATURE_HEADERS,
  };
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
