import { callOptions, collect, modelRequest, userMessage } from '../../../../../test/harness/model-call.js';
import {
  type ScriptedProvider,
  startScriptedProvider,
} from '../../../../../test/harness/scripted-provider.js';
import type { ModelProvider, ResponseFormat } from '../../model-provider.port.js';
import { createProvider } from '../create-provider.js';

let server: ScriptedProvider;
let provider: ModelProvider;

beforeAll(async () => {
  server = await startScriptedProvider();
  const choice = { kind: 'anthropic', apiKey: 'k', baseUrl: server.url, model: 'm', why: 'test' } as const;
  provider = await createProvider(choice);
});
afterAll(() => server.stop());

type Schema = ResponseFormat['schema'];

interface Body {
  readonly output_config?: { readonly format?: { readonly type: string; readonly schema: Schema } };
  readonly messages: { readonly content: { readonly text: string }[] }[];
}

async function sent(schema: Schema, model = 'claude-sonnet-5-5', description = ''): Promise<Body> {
  server.script((response) => void response.writeHead(400).end('{}'));
  const request = modelRequest([userMessage('Where?')], {
    model,
    responseFormat: { name: 'x', schema, description },
  });
  await collect(provider.stream(request, callOptions())).catch(() => undefined);
  return server.requests.at(-1)?.body as unknown as Body;
}

const text = { type: 'string' } as const;
const inWords = (body: Body): string => body.messages.at(-1)?.content.at(-1)?.text ?? '';

describe('the schema of an answer', () => {
  it('is closed as the wire demands, and its description says what the wire does not support', async () => {
    const body = await sent({
      type: 'object',
      required: ['city', 'stops'],
      properties: {
        city: { type: 'string', minLength: 2 },
        stops: { type: 'array', items: { type: 'object', properties: { name: text } } },
        note: { $ref: '#/$defs/note' },
      },
      $defs: { note: { anyOf: [text, { type: 'null' }] } },
    });
    expect(body.output_config?.format).toEqual({
      type: 'json_schema',
      schema: {
        type: 'object',
        required: ['city', 'stops'],
        additionalProperties: false,
        properties: {
          city: { type: 'string', description: '{minLength: 2}' },
          stops: {
            type: 'array',
            items: { type: 'object', properties: { name: text }, additionalProperties: false },
          },
          note: { $ref: '#/$defs/note' },
        },
        $defs: { note: { anyOf: [text, { type: 'null' }] } },
      },
    });
    expect(inWords(body)).toBe('Where?');
  });

  it.each<[string, Schema]>([
    ['an object of any names', { type: 'object', additionalProperties: { type: 'number' } }],
    ['an object that is left open', { type: 'object', properties: { a: text }, additionalProperties: true }],
    ['names by a pattern', { type: 'object', properties: { a: text }, patternProperties: { '^x': text } }],
    ['one within another', { type: 'object', properties: { counts: { type: 'object' } } }],
    ['no type', { properties: { a: text } }],
    ['a list of anything', { type: 'array', items: true }],
    [
      'a tree',
      {
        $ref: '#/$defs/node',
        $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      },
    ],
    [
      'definitions of an older draft',
      { type: 'object', properties: { a: { $ref: '#/definitions/a' } }, definitions: { a: text } },
    ],
    ['a choice beside a type', { type: 'object', properties: { a: text }, anyOf: [{ required: ['a'] }] }],
    ['all of several', { allOf: [{ type: 'object', properties: { a: text } }] }],
    ['several types with an object', { type: ['object', 'null'], properties: { a: text } }],
  ])('is explained in words where the wire cannot express it: %s', async (_, schema) => {
    const body = await sent(schema);
    expect(body.output_config).toBeUndefined();
    expect(inWords(body)).toContain(JSON.stringify(schema));
  });

  it('has its purpose in its description, or in words where a reference leaves no room for it', async () => {
    const schema = { type: 'object', properties: { a: text }, description: 'A place.' };
    const described = async (one: Schema) => sent(one, undefined, 'Where it is.');
    expect((await described(schema)).output_config?.format?.schema['description']).toBe(
      'Where it is.\n\nA place.',
    );
    const tree = { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { a: text } } } };
    expect(inWords(await described(tree))).toContain('"description":"Where it is."');
  });

  it.each(['claude-3-7-sonnet-latest', 'claude-sonnet-4-20250514', 'claude-opus-4-0'])(
    'is explained in words to %s, which has no such field',
    async (model) => {
      const schema = { type: 'object', properties: { a: text } };
      const body = await sent(schema, model);
      expect(body.output_config).toBeUndefined();
      expect(inWords(body)).toContain(JSON.stringify(schema));
    },
  );
});
