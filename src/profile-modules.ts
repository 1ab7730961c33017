import type { Type } from '@nestjs/common';
import type { ProfileId } from './http/profiles/profile.js';
import { ProfileAModule } from './profile-a.module.js';
import { ProfileBModule } from './profile-b.module.js';

export const PROFILE_MODULES = { a: ProfileAModule, b: ProfileBModule } as const satisfies Record<
  ProfileId,
  Type
>;
