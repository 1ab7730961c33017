import type { AuthorizationServerMetadata, FetchLike } from '@modelcontextprotocol/client';

const OPEN_ID = '/.well-known/openid-configuration';
const FIELD = 'dpop_signing_alg_values_supported';

/**
 * To which algorithms an authorization server binds tokens, by its metadata. The library drops that of documents of OpenID Connect, so
 * these are read on their way to it.
 */
export class OfferedAlgorithms {
  /** The last such document. */
  private read: Readonly<Record<string, unknown>> = {};

  /** The same fetch, which reads such documents. */
  noticedBy(fetch: FetchLike): FetchLike {
    return async (to, init) => {
      const response = await fetch(to, init);
      if (!response.ok || !new URL(to).pathname.includes(OPEN_ID)) return response;
      const text = await response.text();
      this.read = objectIn(text);
      return new Response(text, { headers: { 'content-type': 'application/json' } });
    };
  }

  /** Unchecked; undefined when it says nothing. */
  of(metadata: AuthorizationServerMetadata | undefined): unknown {
    const { [FIELD]: said, issuer }: Readonly<Record<string, unknown>> = metadata ?? {};
    if (said !== undefined) return said;
    return issuer !== undefined && this.read['issuer'] === issuer ? this.read[FIELD] : undefined;
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {};
  }
}
