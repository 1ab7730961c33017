import type { SqlValue } from './sql.js';

/** The conditions of a list whose filters may be left out, and the values of their parameters. */
export class Conditions {
  readonly values: SqlValue[];
  private readonly texts: string[] = [];
  private readonly names: string[] = [];

  /** @param values of the parameters that the statement has in any case, from `$1` on */
  constructor(values: readonly SqlValue[]) {
    this.values = [...values];
  }

  /** Adds a condition unless the value is undefined; `:value` in it stands for the parameter. */
  add(name: string, value: SqlValue | undefined, text: string): this {
    if (value === undefined) return this;
    this.values.push(value);
    this.names.push(name);
    this.texts.push(text.replaceAll(':value', `$${this.values.length}`));
    return this;
  }

  /** To stand behind another condition. */
  get text(): string {
    return this.texts.map((text) => ` AND ${text}`).join('');
  }

  /** What tells statements with other conditions apart. */
  get name(): string {
    return this.names.map((name) => `.${name}`).join('');
  }
}
