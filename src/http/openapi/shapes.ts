import type { OpenAPIObject } from '@nestjs/swagger';

export type Document = OpenAPIObject;
export type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;
export type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
export type SchemaOrReference = Schemas[string];
export type Schema = Exclude<SchemaOrReference, { $ref: string }>;
export type Components = NonNullable<OpenAPIObject['components']>;
export type ResponseObject = Exclude<NonNullable<Components['responses']>[string], { $ref: string }>;

export const METHODS = ['get', 'post', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];

/** One operation of a document, with where it stands. */
export interface RoutedOperation {
  readonly path: string;
  readonly method: Method;
  readonly operation: Operation;
}

export function operationsOf(document: Document): RoutedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
}
