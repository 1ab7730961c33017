import { INBOUND_MODELS, inbound } from './areas/channels/wire/inbound.streams.js';
import { deliveries } from './areas/hooks/wire/delivery.streams.js';
import { logStream } from './areas/logs/profile-b/log.streams.js';
import { sessionSocket, turnStream } from './areas/sessions/wire/session.streams.js';
import { ToolApprovalRequest } from './areas/sessions/wire/socket/tool-approval.request.js';
import type { DescribedApi } from './http/openapi/described-api.js';
import { PROFILE_MODULES } from './profile-modules.js';

/** What the API documents describe, in their order. */
export const DESCRIBED_API: DescribedApi = {
  modules: PROFILE_MODULES,
  asyncModels: [ToolApprovalRequest, ...INBOUND_MODELS],
  asyncChannels: (profile, schemas) => ({
    sessionSocket: sessionSocket(schemas),
    turnEvents: turnStream(),
    ...(profile === 'b' ? { logEvents: logStream() } : {}),
    deliveries: deliveries(),
    inbound: inbound(),
  }),
};
