import type { ModelTool } from '../../model-provider.port.js';

/** Most tools that are named as matches. */
const MAX_MATCHES = 10;
/** Most characters of a message or a description that are looked at. */
const MAX_CHARS = 4000;
/** Words that say nothing about a tool. */
const COMMON = new Set(
  'a an and are as at be by can do for from how i if in is it me my of on or please the this to what with you'.split(
    ' ',
  ),
);
/** Knows words also where no blanks part them. */
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** The tools whose name or description shares words with the message, best first, by name where equal. */
export function matchingTools(message: string, tools: readonly ModelTool[]): ModelTool[] {
  const wanted = wordsOf(message);
  if (wanted.size === 0) return [];
  return tools
    .map((tool) => ({ tool, score: sharedWords(tool, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .slice(0, MAX_MATCHES)
    .map(({ tool }) => tool);
}

function sharedWords(tool: ModelTool, wanted: ReadonlySet<string>): number {
  const words = wordsOf(`${tool.name} ${tool.description}`);
  return [...wanted].filter((word) => words.has(word)).length;
}

function wordsOf(text: string): Set<string> {
  const spaced = text
    .slice(0, MAX_CHARS)
    .replace(/[_-]+/g, ' ')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
  const words = new Set<string>();
  for (const { segment, isWordLike } of segmenter.segment(spaced.toLowerCase())) {
    if (isWordLike && !COMMON.has(segment)) words.add(segment);
  }
  return words;
}
