import type { Document, Schemas } from './shapes.js';

/** `SessionListViewA` and `SessionListViewB` are called `SessionList` by their clients, `CreateSessionRequestA` loses its letter. */
export function publicName(className: string): string {
  return className.replace(/View[AB]?$/, '').replace(/Request[AB]$/, 'Request');
}

/** The document with its schemas under the names that clients generate types from. Throws when two would share one. */
export function withPublicNames(document: Document): Document {
  const names = new Map<string, string>();
  for (const name of Object.keys(document.components?.schemas ?? {})) {
    const given = publicName(name);
    if ([...names.values()].includes(given)) throw new Error(`Two schemas would be called ${given}.`);
    names.set(name, given);
  }
  const text = JSON.stringify(document).replace(
    /"#\/components\/schemas\/(\w+)"/g,
    (_whole, name: string) => `"#/components/schemas/${names.get(name) ?? name}"`,
  );
  const renamed = JSON.parse(text) as Document;
  const entries = Object.entries(renamed.components?.schemas ?? {});
  const schemas: Schemas = Object.fromEntries(
    entries.map(([name, schema]) => [names.get(name) ?? name, schema]),
  );
  return { ...renamed, components: { ...renamed.components, schemas } };
}
