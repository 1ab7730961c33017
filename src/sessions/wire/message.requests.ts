import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsIn, Matches, ValidateNested } from 'class-validator';
import { Base64 } from '../../edge/validation/base64.decorator.js';
import { Optional } from '../../edge/validation/optional.decorator.js';
import { MOST_PER_PAGE, QueryCount } from '../../edge/validation/query-count.decorator.js';
import { TextLength, Utf8Length } from '../../edge/validation/utf8-length.decorator.js';
import { Word } from '../../edge/validation/word.decorator.js';
import type { AttachmentType } from '../message.js';

const ATTACHMENT_TYPES: readonly AttachmentType[] = ['image', 'file', 'audio', 'video'];

export class AttachmentRequest {
  @ApiProperty({ enum: ATTACHMENT_TYPES })
  @IsIn(ATTACHMENT_TYPES, { message: `must be one of ${ATTACHMENT_TYPES.join(', ')}` })
  type!: AttachmentType;

  @ApiPropertyOptional({ maxLength: 128 })
  @Optional()
  @TextLength(1, 128)
  name?: string;

  @ApiProperty({ example: 'image/png' })
  @Matches(/^[a-z]+\/[a-z0-9.+-]{1,100}$/, {
    message: 'must be a media type in lower case, such as image/png',
  })
  mime_type!: string;

  @ApiPropertyOptional({ description: 'The bytes in base64; exactly one of `data` and `url`' })
  @Optional()
  @Base64()
  data?: string;

  @ApiPropertyOptional({ description: 'Where to fetch the bytes; exactly one of `data` and `url`' })
  @Optional()
  @TextLength(1, 2048)
  url?: string;
}

/** POST /sessions/:id/messages, the same in both profiles (specification 2.2; decisions, section 1). */
export class SendMessageRequest {
  @ApiPropertyOptional({ description: 'At most 256 KiB; may be empty only with attachments' })
  @Optional()
  @Utf8Length(0, 262_144)
  content?: string;

  @ApiPropertyOptional({ type: [AttachmentRequest], description: 'At most 10, and 20 MiB decoded in all' })
  @Optional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(10, { message: 'must have at most 10 items' })
  @ValidateNested({ each: true, message: 'must be an object' })
  @Type(() => AttachmentRequest)
  attachments?: AttachmentRequest[];
}

/** GET /sessions/:id/messages. */
export class ListMessagesQuery {
  @QueryCount(100, MOST_PER_PAGE)
  limit = 100;

  @ApiPropertyOptional({ description: 'A message id; the page holds the newest messages before it' })
  @Optional()
  @Word()
  before?: string;
}
