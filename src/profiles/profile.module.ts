import { type DynamicModule, Module, type Type } from '@nestjs/common';
import type { ProfileId } from './profile.js';
import { ProfileAModule } from './profile-a.module.js';
import { ProfileBModule } from './profile-b.module.js';
import { UnknownPathController } from './unknown-path.controller.js';

export const PROFILE_MODULES = { a: ProfileAModule, b: ProfileBModule } as const satisfies Record<
  ProfileId,
  Type
>;

/** The faces that are served, and the route for everything that none of them has. */
@Module({})
export class ProfileModule {
  static register(profiles: readonly ProfileId[]): DynamicModule {
    return {
      module: ProfileModule,
      imports: profiles.map((profile) => PROFILE_MODULES[profile]),
      controllers: [UnknownPathController],
    };
  }
}
