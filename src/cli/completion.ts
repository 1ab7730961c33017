import type { Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What may follow a command: a command below it, an option, or a value of an argument. */
interface Word {
  readonly word: string;
  readonly description: string;
}

/** A command by its path, the program itself by the empty one. */
interface Place {
  readonly path: string;
  readonly words: readonly Word[];
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
  const below = command.commands.flatMap((child) =>
    placesOf(child, path === '' ? child.name() : `${path} ${child.name()}`),
  );
  return [{ path, words: [...children, ...choices, ...options] }, ...below];
}

const helpOption: Pick<Option, 'long' | 'description'> = { long: '--help', description: 'display help' };

function wordsOf({ long, description }: Pick<Option, 'long' | 'description'>): Word[] {
  return long === undefined ? [] : [{ word: long, description }];
}

/** Words before the cursor lead to a place as far as they are commands; values and options in between are passed over. */
function bash(name: string, places: readonly Place[]): string {
  const fn = functionName(name);
  const paths = places.map(({ path }) => `' ${path}'`).slice(1);
  const cases = places.map(
    ({ path, words }) =>
      `    '${path === '' ? '' : ` ${path}`}') words='${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  return `# Completion of ${name} for bash: source <(${name} completion bash)
${fn}() {
  local at='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${paths.join('|')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F ${fn} ${name}
`;
}

function zsh(name: string, places: readonly Place[]): string {
  const fn = functionName(name);
  const paths = places.map(({ path }) => `' ${path}'`).slice(1);
  const cases = places.map(({ path, words }) => {
    const described = words.map(({ word, description }) =>
      quoted(`${word.replaceAll(':', '\\:')}:${description}`),
    );
    return `    '${path === '' ? '' : ` ${path}`}') words_here=(${described.join(' ')}) ;;`;
  });
  return `#compdef ${name}
# Completion of ${name} for zsh: source <(${name} completion zsh)
${fn}() {
  local at='' i
  local -a words_here
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      ${paths.join('|')}) at="$at \${words[i]}" ;;
    esac
  done
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
  const paths = places.map(({ path }) => `'${path}'`).slice(1);
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ word, description }) => {
      const given = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c ${name} -n "${fn} '${path}'" ${given} -d ${fishQuoted(description)}`;
    }),
  );
  return `# Completion of ${name} for fish: ${name} completion fish | source
function ${fn}
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim "$at $word")
    contains -- $next ${paths.join(' ')}; and set at $next
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
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
