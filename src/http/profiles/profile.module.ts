import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { LandingPageController, LandingPages } from '../listeners/landing-page.controller.js';
import { OpenPorts, UnknownPathController } from '../listeners/unknown-path.controller.js';
import { OpenApiDocuments } from '../openapi/api-documents.js';
import { AdminDocumentController, DocsController, DocsPages } from '../openapi/docs.controller.js';
import type { FaceId } from './faces.js';
import type { ProfileId } from './profile.js';

export interface ServedProfiles {
  readonly profiles: readonly ProfileId[];
  readonly faces: readonly FaceId[];
  /** Whether the API documents are served. */
  readonly docs: boolean;
}

/** The controllers of each profile and face. A face without a module here serves nothing. */
export type ServedModules = Readonly<Record<ProfileId | 'admin', Type> & Partial<Record<FaceId, Type>>>;

/** The profiles and faces that are served, their documents, and the route for everything that none of them has. */
@Module({})
export class ProfileModule {
  static register({ profiles, faces, docs }: ServedProfiles, modules: ServedModules): DynamicModule {
    const documents = faces.includes('admin') ? [DocsController, AdminDocumentController] : [DocsController];
    return {
      module: ProfileModule,
      imports: [...profiles, ...faces].flatMap((served) => modules[served] ?? []),
      controllers: [LandingPageController, ...(docs ? documents : []), UnknownPathController],
      providers: [
        OpenApiDocuments,
        DocsPages,
        OpenPorts,
        {
          provide: LandingPages,
          useFactory: () => new LandingPages({ docs, console: faces.includes('console') }),
        },
      ],
    };
  }
}
