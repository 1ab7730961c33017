import type { CommandContext } from '../command-context.js';
import { GatewayClient, gatewayUrl, isExposed, RemoteFailure } from './gateway-client.js';

/** The same for commands that work on the database of the settings when no gateway is named. */
export function namedGateway(context: CommandContext): GatewayClient | undefined {
  const named = context.remote().url ?? context.environment.remoteUrl;
  return named === undefined ? undefined : gatewayOf(context);
}

/**
 * The gateway of `--url` and `--token`, else of AGENT_GATEWAY_URL and AGENT_GATEWAY_TOKEN.
 * Throws `RemoteFailure` when none is named, and for an address to which a token would go unprotected.
 */
export function gatewayOf(context: CommandContext): GatewayClient {
  const { url: given, token: presented } = context.remote();
  const named = given ?? context.environment.remoteUrl;
  if (named === undefined)
    throw new RemoteFailure(
      'This command asks a running gateway: say which one with --url or AGENT_GATEWAY_URL, such as http://127.0.0.1:3120.',
    );
  const url = gatewayUrl(named);
  const token = presented ?? context.environment.remoteToken;
  if (token === undefined)
    throw new RemoteFailure(
      'This command needs a token: set AGENT_GATEWAY_TOKEN to one that "agent-gateway auth token create" made.',
    );
  if (isExposed(url))
    context.terminal.err(`The token goes to ${url} unencrypted, where others can read it: use https.\n`);
  return new GatewayClient({ url, token });
}
