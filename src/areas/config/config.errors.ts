import { Conflict, Forbidden } from '../../common/errors/gateway-error.js';

const why =
  'only the file and the environment may set it, since it chooses a program to run or opens access to the machine';

/** Keys that a caller may not change, and why. */
class RefusedSettings extends Forbidden {
  constructor(keys: readonly string[], reason: string, message: string) {
    super(`${keys.slice(0, 5).join(', ')}: ${message}.`, {
      details: { reason, fields: keys.slice(0, 100).map((path) => ({ path, message })) },
    });
  }
}

/**
 * Keys that no caller may change, whatever scopes the token has (docs/specification/silences.md, Configuration).
 */
export class FileOnlySettings extends RefusedSettings {
  constructor(keys: readonly string[]) {
    super(keys, 'file_only_settings', why);
  }
}

const whySecurity =
  'a change needs the scope "security:write" in addition to "config:write", since it decides who may do what';

/**
 * Keys that need the scope `security:write` in addition to `config:write` (docs/specification/silences.md, Configuration).
 * Nothing of the request was applied.
 */
export class SecuritySettings extends RefusedSettings {
  constructor(keys: readonly string[]) {
    super(keys, 'security_settings', whySecurity);
  }
}

/** If-Match named a configuration that is no longer in force. */
export class ConfigurationMoved extends Conflict {
  constructor() {
    super(
      'The configuration was changed meanwhile. Read it again and repeat the change on what is there now.',
      {
        details: { reason: 'configuration_moved' },
      },
    );
  }
}
