import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString } from 'class-validator';
import { Optional } from '../../edge/validation/optional.decorator.js';
import { TextLength } from '../../edge/validation/utf8-length.decorator.js';

/** POST /hooks, the same in both profiles (specification 4.1 and 4.2). */
export class RegisterHookRequest {
  @ApiProperty({
    example: 'https://example.com/agent-events',
    maxLength: 2048,
    description: 'http or https, at a public address, without credentials',
  })
  @TextLength(1, 2048)
  url!: string;

  @ApiProperty({
    type: [String],
    example: ['session.created', 'message.*'],
    minItems: 1,
    maxItems: 50,
    description: 'Event names, `*`, or a pattern such as `session.*`',
  })
  @IsString({ each: true, message: 'must be an array of strings' })
  @ArrayMaxSize(50, { message: 'must have at most 50 items' })
  @ArrayMinSize(1, { message: 'must have at least one item' })
  @IsArray({ message: 'must be an array of strings' })
  events!: string[];

  @ApiPropertyOptional({
    minLength: 8,
    maxLength: 256,
    description: 'Signs the deliveries; `whsec_` and base64, or any text. Never returned',
  })
  @Optional()
  @TextLength(8, 256)
  secret?: string;
}
