import { applyDecorators } from '@nestjs/common';
import { ArrayMaxSize, IsArray, ValidateNested } from 'class-validator';

/** The class of a list's items, as a function so that a class may name one declared below it. */
export type ItemClass = () => new () => object;

const ITEM_CLASS = 'gateway:item-class';

/** A list of at most `most` objects, each checked as an instance of `itemClass`. */
export const ListOf = (itemClass: ItemClass, most: number) =>
  applyDecorators(
    (prototype: object, key: string | symbol) =>
      Reflect.defineMetadata(ITEM_CLASS, itemClass, prototype, key),
    IsArray({ message: 'must be a list' }),
    ValidateNested({ each: true, message: 'must be an object' }),
    ArrayMaxSize(most, { message: `must have at most ${most} items` }),
  );

/** What the items of this property are instances of; undefined for any other property. */
export function itemClassOf(requestClass: { prototype: object }, key: string): ItemClass | undefined {
  return Reflect.getMetadata(ITEM_CLASS, requestClass.prototype, key) as ItemClass | undefined;
}
