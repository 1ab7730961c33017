import { z } from 'zod';
import { keyMarks } from '../key-marks.js';

export const outboundSection = z.strictObject({
  ca_file: z
    .string()
    .max(4096)
    .default('')
    .register(keyMarks, { fileOnly: true, restart: true })
    .describe(
      'PEM file of certificate authorities that outbound TLS trusts besides the public ones and those of NODE_EXTRA_CA_CERTS; empty for none.',
    ),
  proxy_hosts: z
    .array(z.string().min(1).max(255))
    .max(64)
    .default([])
    .register(keyMarks, { fileOnly: true })
    .describe(
      'Host names that the proxy of HTTPS_PROXY resolves instead of the gateway, so that their addresses are not checked; * stands for any characters.',
    ),
});
