import { type Command, InvalidArgumentError } from 'commander';
import { contentProblem, formOf, withFallbacks } from '../../../areas/tools/questions/question-form.js';
import type { QuestionAnswer, QuestionRecord } from '../../../areas/tools/questions/tool-question.js';
import { BadRequest } from '../../../common/errors/gateway-error.js';
import { inApplication } from '../../application.js';
import { type CommandContext, operatorActor } from '../../command-context.js';
import { CommandFailed } from '../../exit-codes.js';
import { jsonText, printableJson } from '../../terminal-text.js';

const EXAMPLES = `
Examples:
  agent-gateway tools answer ques_… --content '{"date":"2027-03-01"}'    gives the values that are asked for
  agent-gateway tools answer ques_…                                      says yes to a question without values
  agent-gateway tools answer ques_… --decline                            says no`;

/** After every id and time. */
const NEWEST = ['infinity', '~'] as const;
const MOST = 100;

interface AnswerOptions {
  readonly content?: Readonly<Record<string, unknown>>;
  readonly decline?: true;
  readonly json?: true;
}

/** `tools questions` and `tools answer`: what tools ask people while they run. */
export function addQuestionCommands(tools: Command, context: CommandContext): void {
  addQuestions(tools, context);
  addAnswer(tools, context);
}

function addQuestions(tools: Command, context: CommandContext): void {
  tools
    .command('questions')
    .description('list what tools ask people while they run, newest first')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const { ToolQuestions } = await import('../../../areas/tools/questions/tool-questions.js');
      const filter = { status: 'pending', userId: null, agents: undefined } as const;
      const open = await inApplication(context, 'read', (app) =>
        app.get(ToolQuestions).page(NEWEST, filter, MOST),
      );
      const { terminal } = context;
      if (options.json) {
        terminal.out(jsonText({ questions: open.map(questionJson) }));
      } else if (open.length === 0) terminal.err('No tool asks anything.\n');
      else terminal.out(open.map(questionText).join(''));
    });
}

function addAnswer(tools: Command, context: CommandContext): void {
  tools
    .command('answer')
    .description('answer the question of a tool, which then continues')
    .argument('<id>', 'from "tools questions"')
    .option('--content <json>', 'the values, as a JSON object', objectOf)
    .option('--decline', 'say no')
    .option('--json', 'print an object')
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: AnswerOptions) => {
      const { ToolQuestions } = await import('../../../areas/tools/questions/tool-questions.js');
      const isFirst = await inApplication(context, 'change', async (app) => {
        const questions = app.get(ToolQuestions);
        const asked = await questions.find(id);
        return asked?.status === 'pending' && questions.answer(id, answerTo(asked, options), operatorActor());
      });
      const { terminal } = context;
      if (!isFirst) {
        terminal.err('No such question waits any more.\n');
        throw new CommandFailed();
      }
      if (options.json) terminal.out(jsonText({ id, status: 'answered' }));
      else terminal.err('The question is answered.\n');
    });
}

function answerTo({ schema, url }: QuestionRecord, { content, decline }: AnswerOptions): QuestionAnswer {
  if (decline === true) return { action: 'decline' };
  if (url !== undefined) return { action: 'accept' };
  const form = formOf(schema);
  const whole = withFallbacks(form, content ?? {});
  const problem = contentProblem(form, whole);
  if (problem !== undefined)
    throw new BadRequest(
      `--content: ${problem}. "agent-gateway tools questions --json" shows what is asked.`,
    );
  return { action: 'accept', content: whole };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError('It must be a JSON object, such as \'{"date":"2027-03-01"}\'.');
}

function questionJson(question: QuestionRecord): Readonly<Record<string, unknown>> {
  return {
    id: question.id,
    tool: question.tool,
    message: question.message,
    schema: question.schema,
    url: question.url ?? null,
    session_id: question.sessionId,
    channel: question.channel,
    user_id: question.userId,
    asked_at: question.askedAt.toISOString(),
    expires_at: question.expiresAt.toISOString(),
  };
}

function questionText({ id, tool, message, url, schema, userId, expiresAt }: QuestionRecord): string {
  const until = expiresAt.toISOString().slice(11, 19);
  const asked = url === undefined ? printableJson(schema['properties'] ?? {}) : printableJson(url);
  return `${id}  ${tool} for ${printableJson(userId)}, until ${until}Z\n  ${printableJson(message)}\n  ${asked}\n`;
}
