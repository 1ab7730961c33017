import { ApiProperty } from '@nestjs/swagger';

/** The `next_cursor` of a page in the OpenAPI document. */
export const NextCursor = (): PropertyDecorator =>
  ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The `cursor` of the next page; null on the last',
  });

/** A moment in the OpenAPI document. */
export const Moment = (description?: string): PropertyDecorator =>
  ApiProperty({ format: 'date-time', ...(description === undefined ? {} : { description }) });

/** A moment that may be missing. */
export const MomentOrNull = (description?: string): PropertyDecorator =>
  ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    ...(description === undefined ? {} : { description }),
  });

/** A text that may be missing. */
export const TextOrNull = (description?: string): PropertyDecorator =>
  ApiProperty({ type: 'string', nullable: true, ...(description === undefined ? {} : { description }) });

/** A whole number. */
export const Count = (description?: string): PropertyDecorator =>
  ApiProperty({ type: 'integer', ...(description === undefined ? {} : { description }) });

export function isoOrNull(moment: Date | null | undefined): string | null {
  return moment?.toISOString() ?? null;
}
