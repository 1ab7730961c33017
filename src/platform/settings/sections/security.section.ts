import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { addressRange, integer } from './key-types.js';

/** What is guarded and how: what is not for the file alone needs `security:write`. */
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
        'Whether outbound calls may reach this very machine; auto allows it with the embedded database only.',
      ),
    audit_retention_days: integer(1, 36_500).default(365).describe('Days for which the audit is kept.'),
    sandbox: z
      .strictObject({
        backend: z
          .enum(['auto', 'bubblewrap', 'none'])
          .default('auto')
          .describe(
            'How the children of stdio tool servers are shut in; auto takes bubblewrap, and where it does not work runs them unshut (embedded database, loopback) or refuses them (else); bubblewrap insists on it; none runs them unshut.',
          ),
      })
      .register(keyMarks, { fileOnly: true, restart: true })
      .prefault({}),
  })
  .register(keyMarks, { security: true });
