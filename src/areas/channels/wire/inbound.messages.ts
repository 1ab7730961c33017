import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { MEDIA_TYPE } from '../../../common/text/media-type.js';
import {
  type DescribedChannel,
  message,
  operation,
  SIGNATURE_HEADERS,
  schemaReference,
} from '../../../http/openapi/asyncapi.js';
import { publicName } from '../../../http/openapi/schemas.js';
import { ListOf, Optional, TextLength, Utf8Length } from '../../../http/validation/field.decorator.js';
import { MAX_ATTACHMENTS } from '../../turns/turns.api.js';
import type { AnsweredFile, WebhookAnswer } from '../adapters/webhook/webhook-inbound.service.js';

/** A file that comes with a message: fetched when it is answered, and known by its bytes. */
export class InboundAttachmentRequest {
  @ApiProperty({
    format: 'uri',
    description: 'Where it is fetched, without a credential and without redirects',
  })
  @TextLength(1, 2048)
  url!: string;

  @ApiPropertyOptional({
    description: 'As the agent and the reader are told; the last part of the path without one',
  })
  @Optional()
  @TextLength(1, 128)
  name?: string;

  @ApiPropertyOptional({ example: 'image/png', pattern: MEDIA_TYPE.source })
  @Optional()
  @Matches(MEDIA_TYPE, { message: 'must be a media type in lower case, such as image/png' })
  mime_type?: string;
}

/** POST /inbound/:channel. */
export class InboundMessageRequest {
  @TextLength(1, 200)
  conversation!: string;

  @TextLength(1, 200)
  user!: string;

  @Utf8Length(1, 262_144)
  content!: string;

  @ApiPropertyOptional({
    type: [InboundAttachmentRequest],
    maxItems: MAX_ATTACHMENTS,
    description: 'At most 20 MiB in all; of what cannot be had the answer says why',
  })
  @Optional()
  @ListOf(() => InboundAttachmentRequest, MAX_ATTACHMENTS)
  attachments?: InboundAttachmentRequest[];
}

/** A file of an answer. */
export class InboundFileView {
  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ example: 'image/png' })
  readonly mime_type!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'Its bytes in base64; null when the answer is asked for again after they have gone, three days later',
  })
  readonly data!: string | null;
}

/** The response to a posted message: its answer, or that the answer comes later. */
export class InboundView {
  @ApiProperty({ enum: ['answered', 'accepted'] })
  readonly status!: 'answered' | 'accepted';

  @ApiProperty()
  readonly message_id!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Null while the message has not reached its session',
  })
  readonly session_id!: string | null;

  @ApiPropertyOptional({ description: 'The answer, once there is one' })
  readonly content?: string;

  @ApiPropertyOptional({
    type: [InboundFileView],
    description: 'What tools made for the answer: at most ten files and 20 MiB. Absent when there are none',
  })
  readonly files?: readonly InboundFileView[];
}

export function presentInbound({ messageId, sessionId, content, files }: WebhookAnswer): InboundView {
  const facts = { message_id: messageId, session_id: sessionId };
  if (content === null) return { status: 'accepted', ...facts };
  const shown = files.map(presentFile);
  return { status: 'answered', ...facts, content, ...(shown.length === 0 ? {} : { files: shown }) };
}

function presentFile({ name, mimeType, data }: AnsweredFile): InboundFileView {
  return { name, mime_type: mimeType, data: data?.toString('base64') ?? null };
}

/** The models of a channel of the type webhook; no operation of the OpenAPI documents has them. */
export const INBOUND_MODELS = [InboundMessageRequest, InboundAttachmentRequest, InboundView, InboundFileView];

/** What programs post to channels of the type `webhook`. */
export function inbound(): DescribedChannel {
  const headers = { type: 'object', required: Object.keys(SIGNATURE_HEADERS), properties: SIGNATURE_HEADERS };
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
