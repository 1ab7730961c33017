import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { ModelProvider } from './agent/model-provider.port.js';
import { AuditModule } from './audit/audit.module.js';
import type { Configuration } from './config/configuration.js';
import { ConfigurationModule } from './config/configuration.module.js';
import { Environment } from './config/environment.js';
import { DatabaseModule } from './database/database.module.js';
import { AccessLog } from './edge/access-log.js';
import { EdgeModule } from './edge/edge.module.js';
import { EventsModule } from './events/events.module.js';
import { LifecycleModule } from './lifecycle/lifecycle.module.js';
import { ReplicaId } from './lifecycle/replica-id.js';
import { Logs } from './logs/logger.js';
import { Redactor } from './logs/redactor.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { Egress } from './outbound/egress.js';
import { OutboundModule } from './outbound/outbound.module.js';
import { ProfileModule } from './profiles/profile.module.js';
import { SecretBox } from './secrets/secret-box.js';
import { readBuildInfo } from './status/build-info.js';

/** What exists before the application: made by `startGateway`, given to everyone. */
export interface Foundation {
  readonly configuration: Configuration;
  readonly environment: Environment;
  readonly redactor: Redactor;
  readonly logs: Logs;
  readonly dataSource: DataSource;
  readonly provider: ModelProvider;
  readonly secrets: SecretBox;
  readonly replica: ReplicaId;
  readonly egress: Egress;
}

@Global()
@Module({})
class FoundationModule {
  static of({ environment, redactor, logs, provider, secrets, egress }: Foundation): DynamicModule {
    return {
      module: FoundationModule,
      providers: [
        { provide: Environment, useValue: environment },
        { provide: Redactor, useValue: redactor },
        { provide: Logs, useValue: logs },
        { provide: ModelProvider, useValue: provider },
        { provide: SecretBox, useValue: secrets },
        { provide: Egress, useValue: egress },
      ],
      exports: [Environment, Redactor, Logs, ModelProvider, SecretBox, Egress],
    };
  }
}

/** The table of contents: what the gateway is made of. */
@Module({})
export class AppModule {
  static of(foundation: Foundation): DynamicModule {
    return {
      module: AppModule,
      imports: [
        FoundationModule.of(foundation),
        ConfigurationModule.of(foundation.configuration),
        DatabaseModule.of(foundation.dataSource),
        LifecycleModule.of(foundation.replica, readBuildInfo().version),
        MetricsModule,
        EventsModule,
        AuditModule,
        OutboundModule,
        EdgeModule,
        ProfileModule.register(foundation.configuration.live.current.gateway),
      ],
      providers: [AccessLog],
    };
  }
}
