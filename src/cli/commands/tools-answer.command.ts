import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';

const VERDICTS = {
  allow: { verdict: 'allowed', does: 'let a waiting call run' },
  deny: { verdict: 'denied', does: 'refuse a waiting call' },
} as const;

export function addToolsAnswerCommand(
  tools: Command,
  context: CommandContext,
  decision: 'allow' | 'deny',
): void {
  const { verdict, does } = VERDICTS[decision];
  tools
    .command(decision)
    .description(does)
    .argument('<id>', 'from "tools pending"')
    .action(async (id: string) => {
      const { withTools } = await import('../with-tools.js');
      const { CommandFailed } = await import('../command-failed.js');
      const wasOpen = await withTools(context, 'change', ({ approvals, by }) =>
        approvals.answer(id, { verdict, by }),
      );
      context.terminal.err(wasOpen ? `The call is ${verdict}.\n` : 'No such call waits any more.\n');
      if (!wasOpen) throw new CommandFailed();
    });
}
