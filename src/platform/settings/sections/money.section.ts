import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { fileOnlyText, integer } from './key-types.js';

const MAX_USD = 1_000_000_000;
const MAX_PRICE = 1_000_000;

const usd = () => z.number().min(0).max(MAX_USD).optional();
const price = () => z.number().min(0).max(MAX_PRICE).optional();

/** The keys of a budget: of one user, one API token, one agent, or of all. */
export const budgetKeys = (whose: string) => ({
  daily_usd: usd().describe(
    `What ${whose} may cost in a day (UTC), in US dollars; 0 is no budget. Model calls that have begun are finished.`,
  ),
  monthly_usd: usd().describe(
    `What ${whose} may cost in a calendar month (UTC), in US dollars; 0 is no budget. Model calls that have begun are finished.`,
  ),
});

/** A section of budgets and nothing else. */
export const budget = (whose: string) => z.strictObject(budgetKeys(whose));

const priceKeys = z.strictObject({
  input: price().describe('Price of a million input tokens in US dollars. Without it the price is unknown.'),
  cached_input: price().describe(
    'Price of a million input tokens that came from the cache of the provider; unset is the price of input.',
  ),
  cache_write: price().describe(
    'Price of a million input tokens that were written to the cache of the provider; unset is the price of input.',
  ),
  output: price().describe(
    'Price of a million output tokens in US dollars. Without it the price is unknown.',
  ),
  reasoning: price().describe(
    'Price of a million output tokens that the model thought; unset is the price of output.',
  ),
});

/** Marked security: a price of 0 would lift every budget. */
export const pricesSection = z
  .record(z.string().min(1).max(300), priceKeys)
  .default({})
  .register(keyMarks, { security: true })
  .describe(
    'Prices of models, by "provider/model" (the provider of [provider] is "default"); they win over the prices that the gateway brings.',
  );

export const usageSection = z.strictObject({
  prices_file: fileOnlyText().describe(
    'A TOML file of prices ([prices."provider/model"]) that win over all others; it is read again when it changes. Empty is none.',
  ),
  retention_days: integer(0, 36_500)
    .default(0)
    .register(keyMarks, { security: true })
    .describe('Days for which usage is kept; 0 keeps it forever. At least 62, if set.'),
});

const pricesFile = z.strictObject({ prices: pricesSection });

/** The content of a price file. Throws an `Error` that names what is wrong, up to ten problems. */
export function readPrices(file: unknown): z.output<typeof pricesSection> {
  const read = pricesFile.safeParse(file);
  if (read.success) return read.data.prices;
  const wrong = read.error.issues.slice(0, 10).map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(wrong.join('; '));
}
