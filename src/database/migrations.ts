import { CreateTokens1763700000000 } from './migrations/1763700000000-create-tokens.js';
import { CreateSessions1763700001000 } from './migrations/1763700001000-create-sessions.js';
import { CreateMessages1763700002000 } from './migrations/1763700002000-create-messages.js';
import { CreateConfigOverrides1763700003000 } from './migrations/1763700003000-create-config-overrides.js';
import { CreateLogs1763700004000 } from './migrations/1763700004000-create-logs.js';
import { CreateHooks1763700005000 } from './migrations/1763700005000-create-hooks.js';
import { CreateEvents1763700006000 } from './migrations/1763700006000-create-events.js';
import { CreateChannelStates1763700007000 } from './migrations/1763700007000-create-channel-states.js';
import { CreateToolRecords1763700008000 } from './migrations/1763700008000-create-tool-records.js';
import { CutTurnsOff1763700009000 } from './migrations/1763700009000-cut-turns-off.js';

/** Every migration in its order. A list, not a folder pattern: what is not here does not run. */
export const migrations = [
  CreateTokens1763700000000,
  CreateSessions1763700001000,
  CreateMessages1763700002000,
  CreateConfigOverrides1763700003000,
  CreateLogs1763700004000,
  CreateHooks1763700005000,
  CreateEvents1763700006000,
  CreateChannelStates1763700007000,
  CreateToolRecords1763700008000,
  CutTurnsOff1763700009000,
];
