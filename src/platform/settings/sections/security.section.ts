import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { addressRange, integer } from './key-types.js';

/** How the gateway guards itself. Keys that are not for the file alone need `security:write`. */
export const securitySection = z
  .strictObject({
    allow_private_networks: z
      .array(addressRange())
      .max(64)
      .default([])
      .register(keyMarks, { fileOnly: true })
      .describe(
        'Addresses or CIDRs outside the public internet that webhooks and other outbound calls may reach.',
      ),
    allow_loopback: z
      .enum(['auto', 'always', 'never'])
      .default('auto')
      .register(keyMarks, { fileOnly: true })
      .describe(
        'Whether outbound calls may reach this machine itself; auto allows it only with the embedded database.',
      ),
    audit_retention_days: integer(1, 36_500).default(365).describe('Days that audit entries are kept.'),
    sandbox: z
      .strictObject({
        backend: z
          .enum(['auto', 'bubblewrap', 'none'])
          .default('auto')
          .describe(
            'How stdio tool servers are sandboxed: auto uses bubblewrap, and where that does not work runs them without a sandbox (embedded database, loopback) or refuses them (otherwise); bubblewrap insists on it; none runs them without a sandbox.',
          ),
      })
      .register(keyMarks, { fileOnly: true, restart: true })
      .prefault({}),
  })
  .register(keyMarks, { security: true });
