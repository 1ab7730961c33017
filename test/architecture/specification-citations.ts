import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { headingsOf, pages } from './specification-pages.js';

const ROOT = join(__dirname, '../..');
const FOLDERS = ['src', 'test', 'bench', 'scripts', 'config', 'docker', 'bin', 'docs'];
const TEXT = /\.(ts|mts|mjs|cjs|md|toml|yml|yaml|service)$|^\.env\.example$|^Dockerfile$/;

const PAGE = /docs\/specification\/([\w-]+\.md)(?:, (?=(.{1,120})))?/g;
const RECORD = /\bdecision (\d{4})\b/gi;
/** Documents that were never in the repository, and sections cited without their page. */
const ELSEWHERE = [
  /\b(?:decisions|extensions)(?:\.md)?,? (?:sections? )?\d+\b/gi,
  /\bspec(?:ification)?,? (?:sections? )?\d+\b/gi,
  /\b(?:agent-gateway-api|decisions|extensions)\.md/g,
];

/** Every text file that may contain citations, relative to the root of the project. */
export function citingFiles(): readonly string[] {
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  return [...readdirSync(ROOT), ...below].filter(
    (path) => TEXT.test(path.split('/').at(-1) ?? '') && !path.includes('node_modules'),
  );
}

export const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Citations in a text whose target does not exist. */
export function brokenCitations(text: string): readonly string[] {
  const flowing = text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/|#)?[ \t]*/g, ' ');
  return [
    ...ELSEWHERE.flatMap((pattern) => flowing.match(pattern) ?? []),
    ...[...flowing.matchAll(PAGE)].flatMap(([whole, page = '', heading]) =>
      isPage(page) && (heading === undefined || startsWithHeading(page, heading))
        ? []
        : `${whole}${heading ?? ''}`.slice(0, 80),
    ),
    ...[...flowing.matchAll(RECORD)].flatMap(([whole, number = '']) => (isRecord(number) ? [] : whole)),
  ];
}

const isPage = (page: string): boolean => pages().includes(page);

/** A heading is cited in full or by its number. */
const startsWithHeading = (page: string, text: string): boolean =>
  headingsOf(page).some(
    (heading) => begins(text, heading) || begins(text, /^[\d.]+(?= )/.exec(heading)?.[0]),
  );

const begins = (text: string, heading: string | undefined): boolean =>
  heading !== undefined && text.startsWith(heading) && !/^(?:\w|\.\d)/.test(text.slice(heading.length));

const isRecord = (number: string): boolean =>
  readdirSync(join(ROOT, 'docs/decisions')).some((name) => name.startsWith(`${number}-`));
