import { NotFound } from '../../../common/errors/gateway-error.js';

/** A server, or a tool of it, that no gateway on this database ever saw. */
export class ToolNeverSeen extends NotFound {
  constructor(server: string, tool: string | undefined) {
    const what =
      tool === undefined ? `No tool of a server "${server}"` : `No tool "${tool}" of a server "${server}"`;
    super(`${what} was ever seen. "agent-gateway tools list" shows those that were.`);
  }
}
