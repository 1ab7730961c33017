import type { Type } from '@nestjs/common';
import type { ProfileId } from '../profiles/profile.js';
import type { DescribedChannel } from './asyncapi.js';

/** What has a document of its own. */
export type DocumentId = ProfileId | 'admin';

/** What the documents describe: the composition names it, for only that knows every area. */
export interface DescribedApi {
  /** The routes of a profile or face are those of its module. */
  readonly modules: Readonly<Record<DocumentId, Type>>;
  /** Models that only the AsyncAPI document needs. */
  readonly asyncModels: readonly Type[];
  /** The channels of the AsyncAPI document, by name. `schemas` are those of all models. */
  asyncChannels(profile: ProfileId, schemas: Schemas): Readonly<Record<string, DescribedChannel>>;
}

export type Schemas = Readonly<Record<string, unknown>>;
