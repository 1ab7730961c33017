import { PassThrough } from 'node:stream';
import type { Response } from 'express';
import { NotFound } from '../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../gateway-request.js';
import { STALLED_MS } from '../listeners/listener-server.js';
import type { OpenApiDocuments } from './api-documents.js';
import { DocsPages } from './docs.controller.js';

const pages = new DocsPages({
  get: (profile: string, kind: string) => `${kind} of ${profile}`,
} as unknown as OpenApiDocuments);

test('each profile has its document, the operations port has none', () => {
  const sent: string[] = [];
  const response = { type: () => response, vary: () => response, send: (text: string) => sent.push(text) };
  const send = (profile: string, kind: 'openapi' | 'asyncapi') =>
    pages.sendDocument(
      kind,
      { profile, acceptsEncodings: () => false } as unknown as GatewayRequest,
      response as unknown as Response,
    );
  send('a', 'openapi');
  send('b', 'asyncapi');
  expect(sent).toEqual(['openapi of a', 'asyncapi of b']);
  expect(() => send('operations', 'openapi')).toThrow(NotFound);
});

test('a file that its reader stops reading is not kept open', () => {
  const limits: number[] = [];
  const setTimeout = (ms: number) => limits.push(ms);
  const response = Object.assign(new PassThrough(), { setTimeout, setHeader: () => undefined });
  pages.sendAsset('swagger-ui.css', response as unknown as Response);
  response.destroy();
  expect(limits).toEqual([STALLED_MS]);
});

test('a missing documentation file gives NotFound without details of the disk', () => {
  for (const name of ['absent.js', '../package.json', 'package.json']) {
    expect(() => pages.sendAsset(name, {} as Response)).toThrow('The documentation has no such file.');
  }
});
