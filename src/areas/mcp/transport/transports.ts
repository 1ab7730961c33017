import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { Sandbox } from '../sandbox/sandbox.service.js';
import type { OnRefused } from './bounded-message.js';
import { askedBy, boundedResponse } from './bounded-response.js';
import { type ChildOutput, ChildTransport } from './child-transport.js';
import { credentialsOf } from './http-credentials.js';

/** Makes the transport that a server's settings ask for; every HTTP request goes through the outbound guard. */
@Injectable()
export class Transports {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly outbound: OutboundClient,
    private readonly environment: Environment,
  ) {}

  /**
   * Throws when a variable that holds a credential is not set. `talk` gets what a child says beside its messages,
   * `onRefused` why a message was not read.
   */
  make(server: McpServerSettings, talk: ChildOutput, onRefused: OnRefused): Transport {
    if (server.transport === 'stdio')
      return new ChildTransport(this.sandbox.commandOf(server), talk, onRefused);
    const authProvider = credentialsOf(server, this.environment);
    const options = {
      fetch: async (to: string | URL, init?: RequestInit): Promise<Response> =>
        boundedResponse(await this.outbound.fetch(to, init), askedBy(init?.body), onRefused),
      requestInit: { headers: server.headers },
      ...(authProvider === undefined ? {} : { authProvider }),
    };
    const url = new URL(server.url);
    // A server of the older transport is still asked for by name; nothing else speaks it.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    if (server.transport === 'sse') return new SSEClientTransport(url, options);
    // More rights than these credentials have are not to be had without a person.
    return new StreamableHTTPClientTransport(url, { ...options, onInsufficientScope: 'throw' });
  }

  /** What operators must know of such a server though it works; undefined when there is nothing. */
  warningOf({ transport }: McpServerSettings): string | undefined {
    return transport === 'stdio' ? this.sandbox.warning : undefined;
  }
}
