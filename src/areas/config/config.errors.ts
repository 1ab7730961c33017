import { Conflict, Forbidden } from '../../common/errors/gateway-error.js';

const why =
  'only the file and the environment may set it, since it chooses a program to run or opens access to the machine';

/**
 * Keys that no caller may change, whatever scopes the token has (docs/specification/silences.md, Configuration).
 */
export class FileOnlySettings extends Forbidden {
  constructor(keys: readonly string[]) {
    super(`${keys.slice(0, 5).join(', ')}: ${why}.`, {
      details: {
        reason: 'file_only_settings',
        fields: keys.slice(0, 100).map((path) => ({ path, message: why })),
      },
    });
  }
}

const whySecurity =
  'needs the scope "security:write" in addition to "config:write", since it decides who may do what';

/**
 * Keys that need the scope `security:write` in addition to `config:write` (docs/specification/silences.md, Configuration).
 * Nothing of the request was applied.
 */
export class SecuritySettings extends Forbidden {
  constructor(keys: readonly string[]) {
    super(`${keys.slice(0, 5).join(', ')}: a change ${whySecurity}.`, {
      details: {
        reason: 'security_settings',
        fields: keys.slice(0, 100).map((path) => ({ path, message: `a change ${whySecurity}` })),
      },
    });
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
