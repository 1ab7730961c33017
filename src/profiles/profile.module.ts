import { type DynamicModule, Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { DocsPages } from './docs-pages.js';
import { EntranceController } from './entrance.controller.js';
import { Entrances } from './entrance.js';
import { OpenPorts } from './open-ports.js';
import { OpenApiDocuments } from './openapi.js';
import type { ProfileId } from './profile.js';
import { PROFILE_MODULES } from './profile-modules.js';
import { UnknownPathController } from './unknown-path.controller.js';

export interface ServedProfiles {
  readonly profiles: readonly ProfileId[];
  /** Whether the API documents are served. */
  readonly docs: boolean;
}

/** The faces that are served, their documents, and the route for everything that none of them has. */
@Module({})
export class ProfileModule {
  static register({ profiles, docs }: ServedProfiles): DynamicModule {
    return {
      module: ProfileModule,
      imports: profiles.map((profile) => PROFILE_MODULES[profile]),
      controllers: [EntranceController, ...(docs ? [DocsController] : []), UnknownPathController],
      providers: [
        OpenApiDocuments,
        DocsPages,
        OpenPorts,
        { provide: Entrances, useFactory: () => new Entrances(docs) },
      ],
    };
  }
}
