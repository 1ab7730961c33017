import { Get, Req } from '@nestjs/common';
import { NotFound } from '../../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { Open } from '../../../http/guards/access.decorator.js';
import { FaceController } from '../../../http/profiles/faces.js';
import { hasIssuers, publicUrl, RESOURCE_METADATA } from '../../../http/resource-metadata.js';
import { Settings } from '../../../platform/settings/settings.js';

interface ResourceMetadataView {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly bearer_methods_supported: readonly string[];
  readonly resource_name: string;
}

/**
 * Tells clients of the MCP endpoint which issuers' tokens it accepts (RFC 9728). Open: a client that asks has no token
 * yet.
 */
@FaceController(RESOURCE_METADATA)
@Open()
export class ResourceMetadataController {
  constructor(private readonly settings: Settings) {}

  @Get(['', 'mcp'])
  show(@Req() request: GatewayRequest): ResourceMetadataView {
    const { current } = this.settings;
    if (!hasIssuers(current)) throw new NotFound('No issuer of tokens is configured: use an API token.');
    return {
      resource: `${publicUrl(current, request)}/mcp`,
      authorization_servers: Object.values(current.auth.jwt).map(({ issuer }) => issuer),
      bearer_methods_supported: ['header'],
      resource_name: 'Agent Gateway',
    };
  }
}
