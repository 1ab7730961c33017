import MarkdownIt, { type Token } from 'markdown-it';
import { Fragment, type ReactNode } from 'react';

/** HTML stays text: the parser does not read it, and the page creates only the elements of this list. */
const parser = new MarkdownIt('default', { html: false, linkify: false, typographer: false });

const ELEMENTS = {
  paragraph: 'p',
  heading: 'h4',
  bullet_list: 'ul',
  ordered_list: 'ol',
  list_item: 'li',
  blockquote: 'blockquote',
  table: 'table',
  thead: 'thead',
  tbody: 'tbody',
  tr: 'tr',
  th: 'th',
  td: 'td',
  strong: 'strong',
  em: 'em',
  s: 's',
} as const;

const SAFE_LINK = /^(?:https?:|mailto:)/i;
/** Longer texts are shown unparsed: parsing would block the page. */
const MOST_CHARACTERS = 100_000;

/** Shows a model's Markdown with safe elements only. Pictures become links: nothing is fetched from elsewhere. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  if (text.length > MOST_CHARACTERS) return <p className="plain-text">{text}</p>;
  return <div className="markdown">{elementsOf(parser.parse(text, {}))}</div>;
}

interface Open {
  readonly token: Token | undefined;
  readonly children: ReactNode[];
}

/** Turns the flat list of tokens, in which `…_open` and `…_close` enclose nested ones, into elements. */
function elementsOf(tokens: readonly Token[]): ReactNode {
  const stack: Open[] = [{ token: undefined, children: [] }];
  const add = (node: ReactNode): void => {
    stack.at(-1)?.children.push(node);
  };
  for (const token of tokens) {
    if (token.nesting === 1) stack.push({ token, children: [] });
    else if (token.nesting === -1) {
      const done = stack.length > 1 ? stack.pop() : undefined;
      if (done?.token !== undefined) add(enclosing(done.token, done.children));
    } else add(single(token));
  }
  return stack[0]?.children.map(keyed);
}

function enclosing(token: Token, children: readonly ReactNode[]): ReactNode {
  const kind = token.type.replace(/_open$/, '');
  if (token.hidden) return children.map(keyed);
  if (kind === 'link') return link(attributeOf(token, 'href'), children.map(keyed));
  if (!Object.hasOwn(ELEMENTS, kind)) return children.map(keyed);
  const Element = ELEMENTS[kind as keyof typeof ELEMENTS];
  return <Element>{children.map(keyed)}</Element>;
}

function single(token: Token): ReactNode {
  switch (token.type) {
    case 'inline':
      return elementsOf(token.children ?? []);
    case 'code_inline':
      return <code>{token.content}</code>;
    case 'fence':
    case 'code_block':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <pre className="code" tabIndex={0}>
          {token.content.replace(/\n$/, '')}
        </pre>
      );
    case 'softbreak':
      return '\n';
    case 'hardbreak':
      return <br />;
    case 'hr':
      return <hr />;
    case 'image':
      return link(attributeOf(token, 'src'), token.content || 'picture');
    default:
      return token.content;
  }
}

function link(target: string, children: ReactNode): ReactNode {
  if (!SAFE_LINK.test(target)) return <>{children}</>;
  return (
    <a href={target} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function attributeOf(token: Token, name: string): string {
  return String(token.attrs?.find(([given]) => given === name)?.[1] ?? '');
}

function keyed(node: ReactNode, index: number): ReactNode {
  return <Fragment key={index}>{node}</Fragment>;
}
