import { type HealthPart, healthPart } from '../../areas/status/health-part.js';
import type { RemoteFailure } from './gateway-client.js';

const UNREACHABLE = 'Check --url, and whether the gateway runs there.';
/** What to do about a gateway that refuses the report, by the status of its answer. */
const ADVICE: Readonly<Record<number, string>> = {
  401: 'Check the token: it may have expired or been revoked ("agent-gateway auth token list" says).',
  403: 'Use a token with the scope status:read, such as one of the preset viewer, which is not bound to some agents.',
  404: 'Check --url: it is the address of a profile, such as http://127.0.0.1:3120; gateway.faces has to name "admin".',
  503: 'The gateway runs, but its database is away, busy, or has no connection left: look at PostgreSQL and DATABASE_URL, or run this on the machine of the gateway.',
};

/** The finding that a gateway does not say how it does. */
export function connectionPart({ status, message }: RemoteFailure): HealthPart {
  const advice =
    status === undefined
      ? UNREACHABLE
      : (ADVICE[status] ?? `It answered ${status}: look at the log of the gateway.`);
  return healthPart('connection', 'failing', message.replace(/\.$/, ''), advice);
}

/** Whether it is worth looking into what a gateway of this machine stands on. */
export function isAboutTheMachine({ status }: RemoteFailure): boolean {
  return status === undefined || status === 503;
}
