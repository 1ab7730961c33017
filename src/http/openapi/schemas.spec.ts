import { VARIANTS } from '../validation/field.decorator.js';
import {
  closeRequests,
  type Document,
  publicName,
  reachableSchemas,
  type Schema,
  toJsonSchema,
  withPublicNames,
} from './schemas.js';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function documentWith(schemas: Record<string, Schema>, body: string): Document {
  const content = { 'application/json': { schema: reference(body) } };
  const post = { operationId: 'x', requestBody: { content }, responses: {} };
  return {
    openapi: '3.0.3',
    info: { title: '', version: '' },
    paths: { '/x': { post } },
    components: { schemas },
  };
}

test('schema names have neither the word View nor the letter of a profile', () => {
  const names = ['SessionListViewA', 'HookView', 'CreateSessionRequestB', 'SendMessageRequest', 'Area'];
  expect(names.map(publicName)).toEqual([
    'SessionList',
    'Hook',
    'CreateSessionRequest',
    'SendMessageRequest',
    'Area',
  ]);
  const document = documentWith({ HookViewA: { type: 'object' } }, 'HookViewA');
  expect(JSON.stringify(withPublicNames(document))).not.toContain('HookViewA');
  const doubled = documentWith({ HookViewA: {}, HookViewB: {} }, 'HookViewA');
  expect(() => withPublicNames(doubled)).toThrow('Two schemas would be called Hook.');
});

test('every object that a caller sends is closed, those of responses stay open', () => {
  const document = documentWith(
    {
      Outer: { type: 'object', properties: { inner: { type: 'array', items: reference('Inner') } } },
      Inner: { type: 'object', properties: { free: { type: 'object', additionalProperties: true } } },
      Answer: { type: 'object', properties: {} },
    },
    'Outer',
  );
  closeRequests(document);
  const { schemas = {} } = document.components ?? {};
  expect(schemas['Outer']).toHaveProperty('additionalProperties', false);
  expect(schemas['Inner']).toHaveProperty('additionalProperties', false);
  expect(schemas['Inner']).toHaveProperty('properties.free.additionalProperties', true);
  expect(schemas['Answer']).not.toHaveProperty('additionalProperties');
});

test('the variants of a request are schemas of their own', () => {
  const either = {
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string' }, data: { type: 'string' }, url: { type: 'string' } },
    [VARIANTS]: {
      combination: 'oneOf',
      variants: {
        Inline: { required: ['data'], without: ['url'], stricter: { data: { minLength: 4 } } },
        Linked: { required: ['url'], without: ['data'] },
      },
    },
  } as Schema;
  const document = documentWith({ Either: either }, 'Either');
  closeRequests(document);
  const { schemas = {} } = document.components ?? {};
  expect(schemas['Either']).toEqual({ oneOf: [reference('Inline'), reference('Linked')] });
  expect(schemas['Inline']).toEqual({
    type: 'object',
    additionalProperties: false,
    required: ['type', 'data'],
    properties: { type: { type: 'string' }, data: { type: 'string', minLength: 4 } },
  });
});

test('JSON Schema has null as a type and examples in a list', () => {
  expect(toJsonSchema({ properties: { a: { type: 'string', nullable: true, example: 'x' } } })).toEqual({
    properties: { a: { type: ['string', 'null'], examples: ['x'] } },
  });
  const schemas = { A: { items: reference('B') }, B: reference('A'), C: {} };
  expect(reachableSchemas(reference('A'), schemas)).toEqual(new Set(['A', 'B']));
});
