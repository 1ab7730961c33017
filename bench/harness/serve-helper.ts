import type { HelperMessage } from './helper.js';

interface Service<Question, Answer> {
  /** Sent to the parent at once. */
  readonly ready: unknown;
  answer?(question: Question): Promise<Answer>;
}

/** The main function of a helper process: sets up with its configuration, then answers until its parent exits. */
export async function serveHelper<Config, Question = never, Answer = never>(
  setUp: (config: Config) => Promise<Service<Question, Answer>>,
): Promise<void> {
  process.once('disconnect', () => process.exit());
  try {
    const service = await setUp(JSON.parse(process.argv[2] ?? '{}') as Config);
    process.on('message', (question: Question) => {
      if (service.answer !== undefined) void service.answer(question).then(tell, fail);
    });
    tell(service.ready);
  } catch (error) {
    fail(error);
  }
}

function tell(value: unknown): void {
  process.send?.({ value } satisfies HelperMessage);
}

function fail(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.send?.({ error: text } satisfies HelperMessage);
}
