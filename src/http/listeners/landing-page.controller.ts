import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';
import { Open } from '../guards/access.decorator.js';
import { API_PREFIX, type ListenerId, type ProfileId } from '../profiles/profile.js';

const HEALTH = { a: 'health', b: 'status/health' } as const;

/** The links of `GET /`: nothing that a token protects, and no version. */
export interface LandingPage {
  readonly name: 'Agent Gateway';
  readonly profile: ListenerId;
  readonly api: string;
  /** Needs no token. */
  readonly health: string;
  /** Absent while `gateway.docs` is off, as are the next two. */
  readonly docs?: string;
  readonly openapi?: string;
  readonly asyncapi?: string;
  /** The console in the browser; absent while `gateway.faces` leaves it out. */
  readonly console?: string;
}

/** The page carries no script and no style, so its policy allows none. */
const LANDING_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The content of `GET /`: a page for browsers, JSON for other clients. */
export class LandingPages {
  /** @param served whether the API documents and the console are served */
  constructor(private readonly served: { readonly docs: boolean; readonly console: boolean }) {}

  of(profile: 'a' | 'b'): LandingPage {
    return {
      name: 'Agent Gateway',
      profile,
      api: `/${API_PREFIX}`,
      health: `/${API_PREFIX}/${HEALTH[profile]}`,
      ...(this.served.docs ? { docs: '/docs', openapi: '/openapi.json', asyncapi: '/asyncapi.json' } : {}),
      ...(this.served.console ? { console: '/console' } : {}),
    };
  }

  page(profile: 'a' | 'b'): string {
    const { api, health, docs, openapi, asyncapi, console } = this.of(profile);
    const links = [
      [console, 'Console, to look around, to talk to an agent and to operate the gateway'],
      [docs, 'Documentation, to read and to try out (Swagger UI)'],
      [openapi, 'OpenAPI document, to generate clients from'],
      [asyncapi, 'AsyncAPI document: WebSocket, event streams, webhook deliveries'],
      [health, 'Health, without a token'],
    ].flatMap(([path, text]) =>
      path === undefined ? [] : [`    <li><a href="${path}">${path}</a>: ${text}</li>`],
    );
    return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>Agent Gateway</title>
</head>
<body>
  <h1>Agent Gateway</h1>
  <p>This port serves Profile ${profile.toUpperCase()} of the API, below <code>${api}</code>.</p>
  <ul>
${links.join('\n')}
  </ul>
  <p>Everything else needs an access token, sent as <code>Authorization: Bearer agw_…</code>.
  The operator of this gateway creates one with <code>agent-gateway auth token create --name me</code>.</p>
</body>
</html>
`;
  }
}

/** `GET /` leads browsers to the documents. Needs no token, because it says no more than the documents do. */
@Controller({ path: '', version: ['a', 'b'] })
@Open()
export class LandingPageController {
  constructor(private readonly landingPages: LandingPages) {}

  @Get()
  show(@Req() request: GatewayRequest, @Res() response: Response): void {
    const profile = request.profile as ProfileId;
    response.vary('Accept').setHeader('Content-Security-Policy', LANDING_PAGE_POLICY);
    const json = () => response.json(this.landingPages.of(profile));
    response.format({ json, html: () => response.send(this.landingPages.page(profile)), default: json });
  }
}
