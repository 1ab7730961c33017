import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { Controller, Get, Injectable, Param, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import { NotFound } from '../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../gateway-request.js';
import { Open } from '../guards/access.decorator.js';
import { STALLED_MS } from '../listeners/listener-server.js';
import { ADMIN_PREFIX, FaceController } from '../profiles/faces.js';
import { OpenApiDocuments } from './api-documents.js';
import { SWAGGER_PAGE, SWAGGER_POLICY, swaggerAsset } from './swagger-ui.js';

/** The content of the documentation routes. */
@Injectable()
export class DocsPages {
  /** Kept by document: compressing one takes several times as long as the rest of its request, which needs no token. */
  private readonly compressed = new Map<string, Buffer>();

  constructor(private readonly documents: OpenApiDocuments) {}

  /** @throws NotFound on a listener that has no document */
  sendDocument(kind: 'openapi' | 'asyncapi', request: GatewayRequest, response: Response): void {
    const listener = request.profile;
    if (listener === 'operations') throw new NotFound('The operations port has no API document.');
    this.send(this.documents.get(listener, kind), request, response);
  }

  sendAdminDocument(request: GatewayRequest, response: Response): void {
    this.send(this.documents.get('admin'), request, response);
  }

  sendPage(response: Response): void {
    response.setHeader('Content-Security-Policy', SWAGGER_POLICY);
    response.type('text/html').send(SWAGGER_PAGE);
  }

  sendAsset(name: string, response: Response): void {
    const asset = swaggerAsset(name);
    if (asset === undefined) throw new NotFound('The documentation has no such file.');
    response.setHeader('Content-Type', asset.mediaType);
    response.setHeader('Cache-Control', 'public, max-age=3600');
    if (typeof asset.content === 'string') response.send(asset.content);
    else {
      // A reader that stalls would keep the file open.
      response.setTimeout(STALLED_MS);
      pipeline(asset.content, response).catch(() => response.destroy());
    }
  }

  private send(document: string, request: GatewayRequest, response: Response): void {
    response.type('application/json').vary('Accept-Encoding');
    if (request.acceptsEncodings('gzip') === false) {
      response.send(document);
      return;
    }
    const compressed = this.compressed.get(document) ?? gzipSync(document);
    this.compressed.set(document, compressed);
    response.setHeader('Content-Encoding', 'gzip');
    response.send(compressed);
  }
}

/** The documents of the listener's profile, and Swagger UI for the OpenAPI one. They contain nothing that a token protects. */
@Controller({ path: '', version: ['a', 'b'] })
@Open()
export class DocsController {
  constructor(private readonly pages: DocsPages) {}

  @Get('openapi.json')
  document(@Req() request: GatewayRequest, @Res() response: Response): void {
    this.pages.sendDocument('openapi', request, response);
  }

  @Get('asyncapi.json')
  messages(@Req() request: GatewayRequest, @Res() response: Response): void {
    this.pages.sendDocument('asyncapi', request, response);
  }

  @Get('docs')
  page(@Res() response: Response): void {
    this.pages.sendPage(response);
  }

  @Get('docs/:asset')
  asset(@Param('asset') name: string, @Res() response: Response): void {
    this.pages.sendAsset(name, response);
  }
}

/** The document of the operators' API, the same on every port. */
@FaceController(ADMIN_PREFIX)
@Open()
export class AdminDocumentController {
  constructor(private readonly pages: DocsPages) {}

  @Get('openapi.json')
  document(@Req() request: GatewayRequest, @Res() response: Response): void {
    this.pages.sendAdminDocument(request, response);
  }
}
