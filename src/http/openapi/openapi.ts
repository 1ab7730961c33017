import { type INestApplication, Injectable } from '@nestjs/common';
import type { ProfileId } from '../profiles/profile.js';
import type { DescribedApi } from './described-api.js';
import { type Documents, makeDocuments } from './make-document.js';

/** The documents of each profile, made when somebody asks for one first: once per profile, or operations get lost. */
@Injectable()
export class OpenApiDocuments {
  private readonly made = new Map<ProfileId, Documents>();
  private make: ((profile: ProfileId) => Documents) | undefined;

  /** Called once, when the application has its routes. */
  describe(app: INestApplication, api: DescribedApi, version: string): void {
    this.make = (profile) => makeDocuments({ app, api, version }, profile);
  }

  /** The document as JSON text. Throws before `describe` was called. */
  get(profile: ProfileId, kind: keyof Documents = 'openapi'): string {
    const documents = this.made.get(profile) ?? this.make?.(profile);
    if (documents === undefined) throw new Error('The application has no routes yet.');
    this.made.set(profile, documents);
    return documents[kind];
  }
}
