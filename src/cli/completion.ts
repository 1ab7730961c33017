import type { Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What may follow a command: a command below it, an option, or a value of its argument. */
interface Word {
  readonly word: string;
  readonly description: string;
}

/** An option that takes a value; `choices` is empty where that is free. */
interface ValuedOption {
  /** As it is typed: `--status`, and `-s` where there is one. */
  readonly flags: readonly string[];
  readonly choices: readonly string[];
}

/** A command by its path, the program itself by the empty one. */
interface Place {
  readonly path: string;
  readonly words: readonly Word[];
  readonly valued: readonly ValuedOption[];
}

/** A script with which a shell completes the commands and options of the program. */
export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program, '');
  return { bash, zsh, fish }[shell](program.name(), places);
}

function placesOf(command: Command, path: string): Place[] {
  const children = command.commands.map((child) => ({
    word: child.name(),
    description: child.description(),
  }));
  const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((word) => ({ word, description })),
  );
  const options = [...command.options, helpOption].flatMap(wordsOf);
  const valued = command.options.filter(takesValue).map(({ long, short, argChoices = [] }) => ({
    flags: [long, short].filter((flag) => flag !== undefined),
    choices: argChoices,
  }));
  const below = command.commands.flatMap((child) =>
    placesOf(child, path === '' ? child.name() : `${path} ${child.name()}`),
  );
  return [{ path, words: [...children, ...choices, ...options], valued }, ...below];
}

const helpOption: Pick<Option, 'long' | 'description'> = { long: '--help', description: 'display help' };

function wordsOf({ long, description }: Pick<Option, 'long' | 'description'>): Word[] {
  return typeof long === 'string' ? [{ word: long, description }] : [];
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** What was typed so far, as it stands in the cases of a script: `sessions list --status` behind a blank. */
function typed({ path }: Place, word = ''): string {
  return [path, word]
    .filter((part) => part !== '')
    .map((part) => ` ${part}`)
    .join('');
}

/** Patterns of options behind which a value comes. Those of the program stand behind any command. */
function valuePatterns(places: readonly Place[]): string[] {
  return places.flatMap((place) =>
    place.valued.flatMap(({ flags }) =>
      flags.map((flag) => `${place.path === '' ? '*' : ''}'${typed(place, flag)}'`),
    ),
  );
}

/** The patterns of options with choices, and these choices. */
function choicesOf(places: readonly Place[]): (readonly [pattern: string, choices: readonly string[]])[] {
  return places.flatMap((place) =>
    place.valued
      .filter(({ choices }) => choices.length > 0)
      .map(
        ({ flags, choices }) => [flags.map((flag) => `'${typed(place, flag)}'`).join('|'), choices] as const,
      ),
  );
}

/** Words before the cursor lead to a place as far as they are commands; options with their values are passed over. */
function walk(places: readonly Place[], word: string, first: string, last: string): string {
  const paths = places.slice(1).map((place) => `'${typed(place)}'`);
  return `  for ((i = ${first}; i < ${last}; i++)); do
    if [[ -n $value_of ]]; then value_of=''; continue; fi
    case "$at ${word}" in
      ${paths.join('|')}) at="$at ${word}" ;;
      ${valuePatterns(places).join('|')}) value_of="$at ${word}" ;;
    esac
  done`;
}

function bash(name: string, places: readonly Place[]): string {
  const fn = functionName(name);
  const cases = places.map(
    (place) => `    '${typed(place)}') words='${place.words.map(({ word }) => word).join(' ')}' ;;`,
  );
  const values = choicesOf(places).map(
    ([pattern, choices]) => `      ${pattern}) words='${choices.join(' ')}' ;;`,
  );
  return `# Completion of ${name} for bash: source <(${name} completion bash)
${fn}() {
  local at='' words='' value_of='' i
${walk(places, `\${COMP_WORDS[i]}`, '1', 'COMP_CWORD')}
  if [[ -n $value_of ]]; then
    case "$value_of" in
${values.join('\n')}
    esac
  else
    case "$at" in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F ${fn} ${name}
`;
}

function zsh(name: string, places: readonly Place[]): string {
  const fn = functionName(name);
  const cases = places.map((place) => {
    const described = place.words.map(({ word, description }) =>
      quoted(`${word.replaceAll(':', '\\:')}:${description}`),
    );
    return `    '${typed(place)}') words_here=(${described.join(' ')}) ;;`;
  });
  const values = choicesOf(places).map(
    ([pattern, choices]) => `      ${pattern}) compadd -- ${choices.join(' ')} ;;`,
  );
  return `#compdef ${name}
# Completion of ${name} for zsh: source <(${name} completion zsh)
${fn}() {
  local at='' value_of='' i
  local -a words_here
${walk(places, `\${words[i]}`, '2', 'CURRENT')}
  if [[ -n $value_of ]]; then
    case "$value_of" in
${values.join('\n')}
      *) _files ;;
    esac
    return
  fi
  case "$at" in
${cases.join('\n')}
  esac
  _describe '${name}' words_here || _files
}
compdef ${fn} ${name}
`;
}

function fish(name: string, places: readonly Place[]): string {
  const fn = `_${functionName(name)}_at`;
  const paths = places.slice(1).map((place) => `'${typed(place)}'`);
  const own = places[0]?.valued.flatMap(({ flags }) => flags) ?? [];
  const valued = places
    .slice(1)
    .flatMap((place) => place.valued.flatMap(({ flags }) => flags.map((flag) => `'${typed(place, flag)}'`)));
  const lines = places.flatMap((place) =>
    place.words.map(({ word, description }) => {
      const given = word.startsWith('--') ? `-l ${word.slice(2)}${fishValue(place, word)}` : `-f -a ${word}`;
      return `complete -c ${name} -n "${fn} '${typed(place)}'" ${given} -d ${fishQuoted(description)}`;
    }),
  );
  return `# Completion of ${name} for fish: ${name} completion fish | source
function ${fn}
  set -l at ''
  set -l value_of ''
  for word in (commandline -opc)[2..-1]
    if test -n "$value_of"
      set value_of ''
    else if contains -- "$at $word" ${paths.join(' ')}
      set at "$at $word"
    else if contains -- $word ${own.join(' ')}; or contains -- "$at $word" ${valued.join(' ')}
      set value_of $word
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

/** That an option takes a value, and which ones there are. */
function fishValue({ valued }: Place, word: string): string {
  const option = valued.find(({ flags }) => flags.includes(word));
  if (option === undefined) return '';
  return option.choices.length === 0 ? ' -r' : ` -x -a ${fishQuoted(option.choices.join(' '))}`;
}

function functionName(name: string): string {
  return `_${name.replaceAll('-', '_')}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
