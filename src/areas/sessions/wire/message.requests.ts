import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { BadFields, type FieldProblem } from '../../../common/errors/gateway-error.js';
import { newId } from '../../../common/ids/typeid.js';
import { MEDIA_TYPE } from '../../../common/text/media-type.js';
import {
  Base64,
  ListOf,
  MAX_PER_PAGE,
  Optional,
  QueryCount,
  TextLength,
  Utf8Length,
  Variants,
  Word,
} from '../../../http/validation/field.decorator.js';
import { FurtherChecks } from '../../../http/validation/further-checks.js';
import type { ToolChoice } from '../../models/models.api.js';
import {
  type AttachmentType,
  MAX_ATTACHED_BYTES,
  MAX_ATTACHMENTS,
  type MessageOptions,
  type NewAttachment,
  type RemoteAttachment,
  type SentMessage,
} from '../../turns/turns.api.js';
import {
  Checked,
  isNumber,
  isResponseFormat,
  isStop,
  isToolChoice,
  type ResponseFormatRequest,
  TOOL_CHOICES,
  TOOL_NAME,
} from './message-options.checks.js';

const ATTACHMENT_TYPES: readonly AttachmentType[] = ['image', 'file', 'audio', 'video'];

@Variants('oneOf', {
  InlineAttachment: { required: ['data'], without: ['url'] },
  LinkedAttachment: { required: ['url'], without: ['data'] },
})
export class AttachmentRequest {
  @ApiProperty({ enum: ATTACHMENT_TYPES })
  @IsIn(ATTACHMENT_TYPES, { message: `must be one of ${ATTACHMENT_TYPES.join(', ')}` })
  type!: AttachmentType;

  @ApiPropertyOptional()
  @Optional()
  @TextLength(1, 128)
  name?: string;

  @ApiProperty({ example: 'image/png', pattern: MEDIA_TYPE.source })
  @Matches(MEDIA_TYPE, {
    message: 'must be a media type in lower case, such as image/png',
  })
  mime_type!: string;

  @ApiPropertyOptional({ description: 'The bytes in base64; exactly one of `data` and `url`' })
  @Optional()
  @Base64()
  data?: string;

  @ApiPropertyOptional({
    format: 'uri',
    description: 'Where to fetch the bytes; exactly one of `data` and `url`',
  })
  @Optional()
  @TextLength(1, 2048)
  url?: string;
}

/**
 * POST /sessions/:id/messages, the same in both profiles (docs/specification/api.md, 2.2;
 * docs/specification/silences.md, Profiles).
 */
@Variants('anyOf', {
  TextMessageRequest: { required: ['content'], stricter: { content: { minLength: 1, pattern: '\\S' } } },
  AttachmentMessageRequest: { required: ['attachments'], stricter: { attachments: { minItems: 1 } } },
})
export class SendMessageRequest {
  @ApiPropertyOptional({ description: 'At most 256 KiB; may be empty only with attachments' })
  @Optional()
  @Utf8Length(0, 262_144)
  content?: string;

  @ApiPropertyOptional({
    type: [AttachmentRequest],
    maxItems: MAX_ATTACHMENTS,
    description: 'At most 20 MiB decoded in all',
  })
  @Optional()
  @ListOf(() => AttachmentRequest, MAX_ATTACHMENTS)
  attachments?: AttachmentRequest[];

  @ApiPropertyOptional({
    type: 'number',
    minimum: 0,
    maximum: 2,
    description: 'How freely the next token is chosen',
  })
  @Optional()
  @Checked((value) => isNumber(value, 0, 2), 'must be a number from 0 to 2')
  temperature?: number;

  @ApiPropertyOptional({
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'From which share of likely tokens the next one is chosen',
  })
  @Optional()
  @Checked((value) => isNumber(value, 0, 1), 'must be a number from 0 to 1')
  top_p?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    description: 'At most `agent.max_output_tokens`',
  })
  @Optional()
  @Checked(
    (value) => isNumber(value, 1, 1_000_000) && Number.isInteger(value),
    'must be a whole number from 1 to 1000000',
  )
  max_output_tokens?: number;

  @ApiPropertyOptional({
    description:
      'Whether tools may be called, have to be, or which one has to be in the first call of the model',
    oneOf: [
      { type: 'string', enum: TOOL_CHOICES },
      {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', pattern: TOOL_NAME.source } },
        additionalProperties: false,
      },
    ],
  })
  @Optional()
  @Checked(isToolChoice, 'must be auto, none, required, or an object with the name of a tool')
  tool_choice?: ToolChoice;

  @ApiPropertyOptional({
    type: 'array',
    minItems: 1,
    maxItems: 4,
    items: { type: 'string', minLength: 1, maxLength: 64 },
    description: 'Texts, each of which ends the answer',
  })
  @Optional()
  @Checked(isStop, 'must be a list of 1 to 4 strings of 1 to 64 characters')
  stop?: string[];

  @ApiPropertyOptional({
    type: 'object',
    description:
      'The answer is JSON of this schema, of at most 64 KiB and 32 levels; else the turn fails with `response_format_unmet`',
    required: ['type', 'json_schema'],
    properties: {
      type: { type: 'string', enum: ['json_schema'] },
      json_schema: {
        type: 'object',
        required: ['name', 'schema'],
        properties: {
          name: { type: 'string', pattern: TOOL_NAME.source },
          schema: { type: 'object', additionalProperties: true },
          strict: { type: 'boolean' },
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  })
  @Optional()
  @Checked(
    isResponseFormat,
    'must be {type: "json_schema", json_schema: {name, schema, strict?}} with a schema of at most 64 KiB and 32 levels',
  )
  response_format?: ResponseFormatRequest;
}

/** Each can be sent as it is. */
export const SEND_EXAMPLES = {
  question: { summary: 'A question', value: { content: 'What is the capital of France?' } },
  attachment: {
    summary: 'A question about a file',
    value: {
      content: 'What does this file say?',
      attachments: [
        { type: 'file', name: 'note.txt', mime_type: 'text/plain', data: 'VGhlIG1lZXRpbmcgaXMgYXQgbm9vbi4=' },
      ],
    },
  },
};

/** GET /sessions/:id/messages. */
export class ListMessagesQuery {
  @QueryCount(100, MAX_PER_PAGE)
  limit = 100;

  @ApiPropertyOptional({ description: 'A message id; the page holds the newest messages before it' })
  @Optional()
  @Word()
  before?: string;
}

/**
 * The message of a request. Checks the rules that involve several fields; throws `BadFields`. The base64 of its
 * attachments is removed from the request, because the route's caller keeps the request until the answer, which may
 * take long.
 */
export function newUserMessage(request: SendMessageRequest): SentMessage {
  BadFields.refuse(messageProblems(request));
  const attachments = (request.attachments ?? []).map(newAttachment);
  const bytes = attachments.reduce((sum, one) => sum + ('data' in one ? one.sizeBytes : 0), 0);
  if (bytes > MAX_ATTACHED_BYTES)
    throw new BadFields([{ path: 'attachments', message: 'must be at most 20 MiB decoded in all' }]);
  for (const one of request.attachments ?? []) delete one.data;
  return { content: request.content ?? '', attachments, options: optionsOf(request) };
}

/** Undefined when the message leaves everything to settings and provider. */
function optionsOf(request: SendMessageRequest): MessageOptions | undefined {
  const {
    temperature,
    top_p: topP,
    stop,
    tool_choice: toolChoice,
    max_output_tokens: maxOutputTokens,
  } = request;
  const responseFormat = request.response_format?.json_schema;
  const sampling = {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stop }),
    ...(toolChoice !== undefined && { toolChoice }),
  };
  const isPlain = Object.keys(sampling).length === 0;
  if (isPlain && maxOutputTokens === undefined && responseFormat === undefined) return undefined;
  return {
    ...(!isPlain && { sampling }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(responseFormat !== undefined && { responseFormat }),
  };
}

/** What is wrong with the message as a whole. Fields that are faulty by themselves are skipped. */
function messageProblems(
  { content = '', attachments = [] }: SendMessageRequest,
  isFaulty: (path: string) => boolean = () => false,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!isFaulty('content') && !isFaulty('attachments') && content.trim() === '' && attachments.length === 0)
    problems.push({ path: 'content', message: 'must not be empty unless there are attachments' });
  if (!Array.isArray(attachments)) return problems;
  for (const [index, attachment] of attachments.slice(0, MAX_ATTACHMENTS).entries()) {
    const path = `attachments.${index}`;
    if (isFaulty(`${path}.data`) || isFaulty(`${path}.url`)) continue;
    if ((attachment.data === undefined) === (attachment.url === undefined))
      problems.push({ path, message: 'must have exactly one of data and url' });
  }
  return problems;
}

function newAttachment({
  type,
  name: given,
  mime_type: mimeType,
  data,
  url,
}: AttachmentRequest): NewAttachment | RemoteAttachment {
  const name = given ?? null;
  if (url !== undefined) return { type, name, mimeType, url };
  const bytes = Buffer.from(data ?? '', 'base64');
  return { id: newId('att'), type, name, mimeType, sizeBytes: bytes.length, data: bytes };
}

/** Reports what a message lacks together with everything else that is wrong with it. */
@Injectable()
export class MessageRequestChecks implements OnModuleInit {
  constructor(private readonly checks: FurtherChecks) {}

  onModuleInit(): void {
    this.checks.add(SendMessageRequest, messageProblems);
  }
}
