import { Get, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { NotFound } from '../../common/errors/gateway-error.js';
import { Open } from '../guards/access.decorator.js';
import { FaceController } from '../profiles/faces.js';
import { type ConsoleFile, ConsoleFiles } from './console-files.js';

/** Nothing but this origin's own files and calls: no inline code, no other origin, no frame, no form, no text taken for markup. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept-Encoding',
} as const;

/** Files of which the name has a hash of their content. */
const ASSETS = 'assets/';

/** The browser console: static files, which say nothing that a token protects. Every path of it that is no file is its page. */
@FaceController('console')
@Open()
export class ConsoleController {
  constructor(private readonly files: ConsoleFiles) {}

  @Get()
  async page(@Req() request: Request, @Res() response: Response): Promise<void> {
    send(await this.builtPage(), request, response);
  }

  @Get('*path')
  async file(
    @Param('path') path: readonly string[] | string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const name = [path].flat().join('/');
    const found = await this.files.find(name);
    if (found === undefined && name.startsWith(ASSETS)) throw new NotFound('The console has no such file.');
    send(found ?? (await this.builtPage()), request, response);
  }

  private async builtPage(): Promise<ConsoleFile> {
    const page = await this.files.page();
    if (page === undefined)
      throw new NotFound(
        'The console was not built into this gateway: run "npm run build", then start it again.',
      );
    return page;
  }
}

function send(file: ConsoleFile, request: Request, response: Response): void {
  response.set(HEADERS);
  response.set({
    'Content-Type': file.mediaType,
    ETag: file.etag,
    'Cache-Control': file.named ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  if (request.headers['if-none-match'] === file.etag) {
    response.status(304).end();
    return;
  }
  const encoding = acceptedEncoding(request, file);
  const content = encoding === undefined ? file.content : file.compressed[encoding];
  if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Length', content?.length ?? 0);
  response.end(request.method === 'HEAD' ? undefined : content);
}

function acceptedEncoding(request: Request, { compressed }: ConsoleFile): 'br' | 'gzip' | undefined {
  const built = (['br', 'gzip'] as const).filter((encoding) => compressed[encoding] !== undefined);
  const accepted = built.length === 0 ? false : request.acceptsEncodings(built);
  return accepted === false ? undefined : built.find((encoding) => encoding === accepted);
}
