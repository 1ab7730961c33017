import { Argument, type Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { completionScript, SHELLS, type Shell } from '../completion.js';

const HELP = `
Examples:
  source <(agent-gateway completion bash)      in ~/.bashrc
  source <(agent-gateway completion zsh)       in ~/.zshrc, behind compinit
  agent-gateway completion fish | source       in ~/.config/fish/config.fish`;

/** `completion`: for the shells that people have. */
export function addCompletionCommand(program: Command, context: CommandContext): void {
  program
    .command('completion')
    .description('print a script that makes your shell complete commands and options')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: Shell) => context.terminal.out(completionScript(program, shell)));
}
