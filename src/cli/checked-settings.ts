import { providerChecks, providerKeys } from '../areas/models/provider-setting.js';
import { sentenceOf } from '../common/errors/error-text.js';
import { masterKeyProblem, missingKeyProblem } from '../platform/secrets/open-secret-box.js';
import { type LoadedSettings, loadSettings } from '../platform/settings/settings-loader.js';
import { InvalidSettings, type SettingsProblem } from '../platform/settings/settings-validation.js';
import { looksLikeToken } from '../platform/tokens/token-format.js';
import type { CommandContext } from './command-context.js';

/** Settings with which a gateway can start. @throws InvalidSettings, once, listing everything that is wrong */
export function checkedSettings(context: CommandContext): LoadedSettings {
  const { environment } = context;
  const problems = [...bootstrapProblems(environment.bootstrapToken), ...keyProblems(environment)];
  let loaded: LoadedSettings | undefined;
  try {
    const checks = providerChecks(providerKeys(environment));
    loaded = loadSettings({ environment, file: context.configFile(), checks });
    problems.push(...missingKey(environment, loaded));
  } catch (error) {
    problems.unshift(...problemsOf(error));
  }
  if (loaded === undefined || problems.length > 0) throw new InvalidSettings(problems);
  return loaded;
}

function bootstrapProblems(token: string | undefined): SettingsProblem[] {
  if (token === undefined || looksLikeToken(token.trim())) return [];
  const message = 'is not a token: make one with "agent-gateway auth token mint"';
  return [{ where: 'GATEWAY_BOOTSTRAP_TOKEN', key: '', message }];
}

function keyProblems({ masterKey, previousMasterKey }: CommandContext['environment']): SettingsProblem[] {
  const keys = { GATEWAY_MASTER_KEY: masterKey, GATEWAY_MASTER_KEY_PREVIOUS: previousMasterKey };
  return Object.entries(keys).flatMap(([where, key]) => {
    const message = key === undefined ? undefined : masterKeyProblem(key);
    return message === undefined ? [] : [{ where, key: '', message }];
  });
}

function missingKey(
  { masterKey, nodeEnv }: CommandContext['environment'],
  { settings }: LoadedSettings,
): SettingsProblem[] {
  if (masterKey !== undefined) return [];
  const embedded = settings.database.url === '';
  const message = missingKeyProblem({ embedded, production: nodeEnv === 'production' });
  return message === undefined ? [] : [{ where: 'GATEWAY_MASTER_KEY', key: '', message }];
}

function problemsOf(error: unknown): readonly SettingsProblem[] {
  if (error instanceof InvalidSettings) return error.problems;
  return [{ where: '', key: '', message: sentenceOf(error) }];
}
