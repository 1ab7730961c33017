import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { DueWork } from '../runtime/due-work.service.js';
import type { PooledDataSource } from './data-source.js';
import { Database } from './database.js';
import { StorageWatch } from './storage-watch.js';

/** Provides the open DataSource, and the prepared statements that run on its pool. */
@Global()
@Module({})
export class DatabaseModule {
  static of(dataSource: PooledDataSource): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => dataSource.options,
          dataSourceFactory: () => Promise.resolve(leftOpen(dataSource)),
        }),
      ],
      providers: [{ provide: Database, useFactory: () => new Database(dataSource) }, StorageWatch, DueWork],
      exports: [Database, StorageWatch, DueWork],
    };
  }
}

/**
 * The same DataSource, for a module that would otherwise close it with the application: the last log lines come later.
 */
function leftOpen(dataSource: DataSource): DataSource {
  return Object.create(dataSource, { destroy: { value: () => Promise.resolve() } }) as DataSource;
}
