type Variables = Readonly<Record<string, string | undefined>>;

/** One `GATEWAY__SECTION__KEY` entry: the variable as written, the key path it names (lower case), its text. */
export interface EnvironmentSetting {
  readonly variable: string;
  readonly path: readonly string[];
  readonly value: string;
}

const settingPrefix = 'GATEWAY__';
/** The variables that are read by name, beside the settings. */
export const wellKnownVariables: readonly string[] = [
  'GATEWAY_CONFIG',
  'GATEWAY_DATA_DIR',
  'GATEWAY_BOOTSTRAP_TOKEN',
  'GATEWAY_MASTER_KEY',
];

const secretVariables = [
  'GATEWAY_BOOTSTRAP_TOKEN',
  'GATEWAY_MASTER_KEY',
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'DATABASE_URL',
];

/** The process environment as it was at start. */
export class Environment {
  /** Private, so that inspecting or serialising the snapshot shows no secret. */
  readonly #variables: ReadonlyMap<string, string>;

  /** Empty variables count as not set, except as the value of a setting and in `${NAME}`. */
  constructor(variables: Variables) {
    this.#variables = new Map(
      Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    Object.freeze(this);
  }

  get databaseUrl(): string | undefined {
    return this.#nonEmpty('DATABASE_URL');
  }

  get dataDir(): string | undefined {
    return this.#nonEmpty('GATEWAY_DATA_DIR');
  }

  /** Path of the configuration file, which must then exist. */
  get configFile(): string | undefined {
    return this.#nonEmpty('GATEWAY_CONFIG');
  }

  get bootstrapToken(): string | undefined {
    return this.#nonEmpty('GATEWAY_BOOTSTRAP_TOKEN');
  }

  get masterKey(): string | undefined {
    return this.#nonEmpty('GATEWAY_MASTER_KEY');
  }

  get anthropicApiKey(): string | undefined {
    return this.#nonEmpty('ANTHROPIC_API_KEY');
  }

  get openaiApiKey(): string | undefined {
    return this.#nonEmpty('OPENAI_API_KEY');
  }

  /** Whether a collector for traces is named, by the variables of OpenTelemetry. */
  get tracesWanted(): boolean {
    if (this.#nonEmpty('OTEL_SDK_DISABLED') === 'true') return false;
    const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
    return names.some((name) => this.#nonEmpty(name) !== undefined);
  }

  get nodeEnv(): string | undefined {
    return this.#nonEmpty('NODE_ENV');
  }

  /** The `GATEWAY__…` entries, sorted by name, so that a table comes before what is set inside it. */
  get settings(): readonly EnvironmentSetting[] {
    return [...this.#variables]
      .filter(([variable]) => variable.startsWith(settingPrefix))
      .map(([variable, value]) => ({ variable, path: pathOf(variable), value }))
      .sort((one, other) => (one.variable < other.variable ? -1 : 1));
  }

  /** Names of all variables that are set. */
  get names(): readonly string[] {
    return [...this.#variables.keys()];
  }

  /** The values that must never be shown. */
  get secrets(): readonly string[] {
    return secretVariables.flatMap((name) => this.#nonEmpty(name) ?? []);
  }

  /** Any variable by name, empty ones included: `${NAME}` in the file, `PATH` for a child process. */
  lookup(name: string): string | undefined {
    return this.#variables.get(name);
  }

  #nonEmpty(name: string): string | undefined {
    return this.#variables.get(name) || undefined;
  }
}

/** Takes the snapshot; the one place that reads `process.env`. */
export function readEnvironment(variables: Variables = process.env): Environment {
  return new Environment(variables);
}

/** The variable that sets a key: `agent.max_turns` is `GATEWAY__AGENT__MAX_TURNS`. */
export function variableOf(path: readonly string[]): string {
  return settingPrefix + path.join('__').toUpperCase();
}

function pathOf(variable: string): readonly string[] {
  return variable.slice(settingPrefix.length).toLowerCase().split('__');
}
