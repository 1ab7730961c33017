import { signInContext } from '../areas/mcp/sign-in/sign-ins.store.js';
import { type SealedPlace, sealedPlace } from '../platform/secrets/key-rotation.js';
import { sealContext } from '../platform/settings/candidate-builder.js';

interface Edit {
  readonly key: string;
  readonly before: { readonly sealed?: string } | null;
  readonly after: { readonly sealed?: string } | null;
}

/** Every column with sealed texts; `test/e2e/key-rotation.spec.ts` fails when one is missing. */
export const SEALED_PLACES: readonly SealedPlace[] = [
  sealedPlace({ table: 'hooks', key: 'id', column: 'secret', context: (id) => `hook:${id}` }),
  sealedPlace({ table: 'hooks', key: 'id', column: 'old_secret', context: (id) => `hook:${id}` }),
  sealedPlace({ table: 'config_overrides', key: 'key', column: 'sealed', context: sealContext }),
  sealedPlace({
    table: 'config_changes',
    key: 'revision',
    column: 'edits',
    context: String,
    resealJson: (edits, reseal) =>
      (edits as readonly Edit[]).map(({ key, before, after }) => ({
        key,
        before: anew(before, key, reseal),
        after: anew(after, key, reseal),
      })),
  }),
  sealedPlace({
    table: 'audit_checkpoints',
    key: 'sequence',
    column: 'signature',
    context: () => 'audit-checkpoint',
  }),
  sealedPlace({
    table: 'assertion_keys',
    key: 'kid',
    column: 'sealed_key',
    context: (kid) => `assertion-key:${kid}`,
  }),
  ...(['client', 'flow', 'tokens'] as const).map((part) =>
    sealedPlace({
      ...{ table: 'mcp_sign_ins', key: 'server', column: `sealed_${part}` },
      context: (server) => signInContext(server, part),
    }),
  ),
];

function anew(
  content: Edit['after'],
  key: string,
  reseal: (sealed: string, context: string) => string,
): Edit['after'] {
  const sealed = content?.sealed;
  return sealed === undefined ? content : { sealed: reseal(sealed, sealContext(key)) };
}
