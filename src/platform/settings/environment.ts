import { percentDecoded } from '../../common/text/percent-decoded.js';

/** The variables that route outbound connections through a company network. */
export interface EgressVariables {
  /** The proxy for https URLs. */
  readonly httpsProxy: string | undefined;
  /** The proxy for http URLs. */
  readonly httpProxy: string | undefined;
  /** Hosts, domains and address ranges to reach without a proxy, separated by commas; `*` is all. */
  readonly noProxy: string | undefined;
  /**
   * A file of certificate authorities. Node ignores it whenever other authorities are given, so the gateway reads it.
   */
  readonly extraCaFile: string | undefined;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** One `GATEWAY__SECTION__KEY` entry: the variable as written, the path of its key (lower case), and its text. */
export interface EnvironmentSetting {
  readonly variable: string;
  readonly path: readonly string[];
  readonly value: string;
}

const settingPrefix = 'GATEWAY__';
/** Variables that are read by name, besides the settings. */
export const wellKnownVariables: readonly string[] = [
  'GATEWAY_CONFIG',
  'GATEWAY_DATA_DIR',
  'GATEWAY_BOOTSTRAP_TOKEN',
  'GATEWAY_MASTER_KEY',
  'GATEWAY_MASTER_KEY_PREVIOUS',
];

/** Headers that go with each request to a collector of OpenTelemetry. */
const headerVariables = ['', 'TRACES_', 'METRICS_', 'LOGS_'].map(
  (signal) => `OTEL_EXPORTER_OTLP_${signal}HEADERS`,
);
export const SECRET_VARIABLES: readonly string[] = [
  'AGENT_GATEWAY_TOKEN',
  'GATEWAY_BOOTSTRAP_TOKEN',
  'GATEWAY_MASTER_KEY',
  'GATEWAY_MASTER_KEY_PREVIOUS',
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'DATABASE_URL',
  ...headerVariables,
];

/** The process environment as it was at the start. */
export class Environment {
  /** Private, so that inspecting or serialising the snapshot reveals no secret. */
  readonly #variables: ReadonlyMap<string, string>;

  /** Empty variables count as unset, except as the value of a setting and in `${NAME}`. */
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

  /** The gateway that commands ask over HTTP. */
  get remoteUrl(): string | undefined {
    return this.#nonEmpty('AGENT_GATEWAY_URL');
  }

  /** The token with which commands ask it. */
  get remoteToken(): string | undefined {
    return this.#nonEmpty('AGENT_GATEWAY_TOKEN');
  }

  get bootstrapToken(): string | undefined {
    return this.#nonEmpty('GATEWAY_BOOTSTRAP_TOKEN');
  }

  get masterKey(): string | undefined {
    return this.#nonEmpty('GATEWAY_MASTER_KEY');
  }

  /** The master key before a rotation. */
  get previousMasterKey(): string | undefined {
    return this.#nonEmpty('GATEWAY_MASTER_KEY_PREVIOUS');
  }

  get anthropicApiKey(): string | undefined {
    return this.#nonEmpty('ANTHROPIC_API_KEY');
  }

  get openaiApiKey(): string | undefined {
    return this.#nonEmpty('OPENAI_API_KEY');
  }

  /**
   * Which signals go to a collector, by the variables of OpenTelemetry. Naming a collector enables traces. Metrics and
   * logs can be read in other ways, so they are sent only when `OTEL_METRICS_EXPORTER` or `OTEL_LOGS_EXPORTER` is
   * `otlp`.
   */
  get telemetry(): {
    readonly traces: boolean;
    readonly metrics: boolean;
    readonly logs: boolean;
    readonly metricIntervalMs: number | undefined;
  } {
    const isOff = this.#nonEmpty('OTEL_SDK_DISABLED') === 'true';
    const asksFor = (signal: string, byDefault: string) =>
      !isOff &&
      (this.#nonEmpty(`OTEL_${signal}_EXPORTER`) ?? byDefault) === 'otlp' &&
      ['OTEL_EXPORTER_OTLP_ENDPOINT', `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`].some(
        (name) => this.#nonEmpty(name) !== undefined,
      );
    const interval = Number(this.#nonEmpty('OTEL_METRIC_EXPORT_INTERVAL'));
    return {
      traces: asksFor('TRACES', 'otlp'),
      metrics: asksFor('METRICS', 'none'),
      logs: asksFor('LOGS', 'none'),
      metricIntervalMs: interval > 0 ? interval : undefined,
    };
  }

  /** Proxies and authorities of outbound connections. Names in lower case count too, and win. */
  get egress(): EgressVariables {
    const either = (name: string) => this.#nonEmpty(name.toLowerCase()) ?? this.#nonEmpty(name);
    return {
      httpsProxy: either('HTTPS_PROXY'),
      httpProxy: either('HTTP_PROXY'),
      noProxy: either('NO_PROXY'),
      extraCaFile: this.#nonEmpty('NODE_EXTRA_CA_CERTS'),
    };
  }

  /** https://no-color.org, and terminals without colours. */
  get wantsColor(): boolean {
    return this.#nonEmpty('NO_COLOR') === undefined && this.#variables.get('TERM') !== 'dumb';
  }

  get nodeEnv(): string | undefined {
    return this.#nonEmpty('NODE_ENV');
  }

  /** The `GATEWAY__…` entries, sorted by name, so that a table comes before the keys inside it. */
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
    const { httpsProxy, httpProxy } = this.egress;
    const passwords = [httpsProxy, httpProxy].flatMap((url) => passwordsOf(url));
    const headers = headerVariables.flatMap((name) => headerSecrets(this.#nonEmpty(name) ?? ''));
    return [...SECRET_VARIABLES.flatMap((name) => this.#nonEmpty(name) ?? []), ...headers, ...passwords];
  }

  /** Any variable by name, empty ones included: `${NAME}` in the file, `PATH` for a child process. */
  lookup(name: string): string | undefined {
    return this.#variables.get(name);
  }

  #nonEmpty(name: string): string | undefined {
    return this.#variables.get(name) || undefined;
  }
}

/** Header names that carry credentials, such as `authorization`, `x-api-key`, `x-honeycomb-team`. */
const CREDENTIAL_NAME = /auth|key|token|secret|password|cookie|team|licen[cs]e|credential/i;
/** Values that look neither like a word nor like a name. */
const CREDENTIAL_VALUE = /^(?=.*[0-9])(?=.*[A-Za-z])\S{16,}$/;

/**
 * The credentials in `authorization=Bearer%20…,x-key=…,x-env=production`, as written, decoded, and without their
 * scheme. Other values are not secrets: redacting a word such as `production` would remove it from every text.
 */
function headerSecrets(headers: string): string[] {
  return headers.split(',').flatMap((pair) => {
    const [name = '', ...rest] = pair.split('=');
    const written = rest.join('=').trim();
    const value = percentDecoded(written);
    const credential = value.slice(value.indexOf(' ') + 1).trim();
    if (!CREDENTIAL_NAME.test(name) && !CREDENTIAL_VALUE.test(credential)) return [];
    const known = [written.slice(written.indexOf(' ') + 1), credential, ...basicParts(value)];
    return [...new Set(known)].filter((secret) => secret !== '');
  });
}

/** The password of `Basic …`. */
function basicParts(value: string): string[] {
  const [scheme = '', credentials = ''] = value.split(' ');
  if (scheme.toLowerCase() !== 'basic') return [];
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  return pair.includes(':') ? [pair, pair.slice(pair.indexOf(':') + 1)] : [];
}

/** Takes the snapshot. Only this function reads `process.env`. */
export function readEnvironment(variables: Variables = process.env): Environment {
  return new Environment(variables);
}

/**
 * The variable that sets a key: `agent.max_turns` is `GATEWAY__AGENT__MAX_TURNS`. A name that cannot be written in
 * upper case is quoted and stays as it is: `GATEWAY__LIMITS__USERS__"https://login|Ada"__DAILY_USD`.
 */
export function variableOf(path: readonly string[]): string {
  const names = path.map((name) => (isPlainName(name) ? name.toUpperCase() : JSON.stringify(name)));
  return settingPrefix + names.join('__');
}

/** The password in a URL, as written and decoded. */
function passwordsOf(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { password } = new URL(url);
  return password === '' ? [] : [password, percentDecoded(password)];
}

/** Two underscores separate names; within quotes everything belongs to the name. */
function pathOf(variable: string): readonly string[] {
  const names: string[] = [];
  let rest = variable.slice(settingPrefix.length);
  for (;;) {
    const closing = rest.startsWith('"') ? rest.indexOf('"__', 1) : -1;
    const end = closing < 0 ? (rest.startsWith('"') ? -1 : rest.indexOf('__')) : closing + 1;
    names.push(nameOf(end < 0 ? rest : rest.slice(0, end)));
    if (end < 0) return names;
    rest = rest.slice(end + 2);
  }
}

function nameOf(written: string): string {
  const isQuoted = written.length > 2 && written.startsWith('"') && written.endsWith('"');
  return isQuoted ? written.slice(1, -1) : written.toLowerCase();
}

function isPlainName(name: string): boolean {
  return name === name.toLowerCase() && !name.includes('.') && !name.includes('__') && !name.includes('"');
}
