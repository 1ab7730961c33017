import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsString, MaxLength, MinLength } from 'class-validator';
import { Optional } from './field.decorator.js';

const MAX_CHARACTERS = 512;

/** An exact value that a list is filtered by. */
export const TextFilter = (description: string, example?: string) =>
  applyDecorators(
    ApiPropertyOptional({
      description,
      maxLength: MAX_CHARACTERS,
      ...(example === undefined ? {} : { example }),
    }),
    Optional(),
    IsString(),
    MinLength(1),
    MaxLength(MAX_CHARACTERS),
  );

/** One of a few words that a list is filtered by. */
export const WordFilter = (words: readonly string[], description?: string) =>
  applyDecorators(
    ApiPropertyOptional({ enum: [...words], ...(description === undefined ? {} : { description }) }),
    Optional(),
    IsIn([...words], { message: `must be one of ${words.join(', ')}` }),
  );
