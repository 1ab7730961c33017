import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { LandingPageController, LandingPages } from '../listeners/landing-page.controller.js';
import { OpenPorts, UnknownPathController } from '../listeners/unknown-path.controller.js';
import { OpenApiDocuments } from '../openapi/api-documents.js';
import { DocsController, DocsPages } from '../openapi/docs.controller.js';
import type { ProfileId } from './profile.js';

export interface ServedProfiles {
  readonly profiles: readonly ProfileId[];
  /** Whether the API documents are served. */
  readonly docs: boolean;
}

/** The faces that are served, their documents, and the route for everything that none of them has. */
@Module({})
export class ProfileModule {
  static register(
    { profiles, docs }: ServedProfiles,
    modules: Readonly<Record<ProfileId, Type>>,
  ): DynamicModule {
    return {
      module: ProfileModule,
      imports: profiles.map((profile) => modules[profile]),
      controllers: [LandingPageController, ...(docs ? [DocsController] : []), UnknownPathController],
      providers: [
        OpenApiDocuments,
        DocsPages,
        OpenPorts,
        { provide: LandingPages, useFactory: () => new LandingPages(docs) },
      ],
    };
  }
}
