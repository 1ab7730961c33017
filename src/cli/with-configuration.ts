import { providerCheck } from '../agent/provider-setting.js';
import { type OpenedConfiguration, openConfiguration } from '../config/open-configuration.js';
import { Redactor } from '../logs/redactor.js';
import type { CommandContext } from './command-context.js';
import { withDatabase } from './with-database.js';

/** The configuration with what was changed at run time, for commands. */
export function withConfiguration<Result>(
  context: CommandContext,
  work: (opened: OpenedConfiguration) => Promise<Result>,
): Promise<Result> {
  const { environment } = context;
  const { anthropicApiKey: anthropic, openaiApiKey: openai } = environment;
  const checks = [providerCheck({ anthropic, openai })];
  return withDatabase(
    context,
    async ({ database, loaded, logs, openBox }) => {
      const [box, redactor] = [await openBox(), new Redactor()];
      return work(await openConfiguration({ environment, loaded, database, box, logs, redactor, checks }));
    },
    checks,
  );
}
