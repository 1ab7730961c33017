const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
/** `<@U1>`, `<@U1|ada>`, `<#C1|general>`, `<!here>`, `<https://…|label>`: what Slack makes of what people write. */
const MARKED = /<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>/g;

/** A text of Slack's as people read it, without the mention of the bot. */
export function readableText(text: string, bot: string): string {
  return text
    .replace(mentionOf(bot), '')
    .replace(MARKED, (_all, sign: string, what: string, label?: string) => readable(sign, what, label))
    .replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity)
    .trim();
}

/** The characters that mean something to Slack: without them an answer could call everybody. */
export function literalText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function mentions(text: string, bot: string): boolean {
  return text.search(mentionOf(bot)) >= 0;
}

function mentionOf(bot: string): RegExp {
  return new RegExp(`<@${bot}(?:\\|[^<>]*)?>`, 'g');
}

function readable(sign: string, what: string, label: string | undefined): string {
  const hasLabel = label !== undefined && label !== '';
  if (sign === '') return hasLabel && label !== what ? `${label} (${what})` : what;
  if (hasLabel) return `${sign === '#' ? '#' : '@'}${label}`;
  return sign === '!' ? `@${what}` : `${sign}${what}`;
}
