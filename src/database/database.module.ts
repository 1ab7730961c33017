import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Database } from './database.js';

/** The open DataSource, and the prepared statements that run on its pool. */
@Global()
@Module({})
export class DatabaseModule {
  static of(dataSource: DataSource): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => dataSource.options,
          dataSourceFactory: () => Promise.resolve(dataSource),
        }),
      ],
      providers: [{ provide: Database, useFactory: () => new Database(dataSource) }],
      exports: [Database],
    };
  }
}
