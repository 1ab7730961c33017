import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ConfigurationModule } from './areas/config/config.module.js';
import type { Configuration } from './areas/config/configuration.js';
import { ModelProviders } from './areas/models/model-providers.js';
import { MetricsController } from './areas/status/operations.controller.js';
import { AccessLog } from './http/access-log/access-log.js';
import { ProfileModule } from './http/profiles/profile.module.js';
import { RequestPipelineModule } from './http/request-pipeline.module.js';
import { AuditModule } from './platform/audit-log/audit.module.js';
import type { PooledDataSource } from './platform/database/data-source.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { EventsModule } from './platform/events/events.module.js';
import { readBuildInfo } from './platform/lifecycle/build-info.js';
import { LifecycleModule } from './platform/lifecycle/lifecycle.module.js';
import { ReplicaId } from './platform/lifecycle/replica-id.js';
import { Logs } from './platform/logging/logger.js';
import { Redactor } from './platform/logging/redactor.js';
import { MetricsModule } from './platform/metrics/metrics.module.js';
import { Egress } from './platform/outbound/egress.js';
import { OutboundModule } from './platform/outbound/outbound.module.js';
import { SecretBox } from './platform/secrets/secret-box.js';
import { SecretsModule } from './platform/secrets/secrets.module.js';
import { Environment } from './platform/settings/environment.js';
import { SpanContent } from './platform/tracing/span-content.js';
import { PROFILE_MODULES } from './profiles.module.js';

/** What exists before the application: made by `startGateway`, injectable everywhere. */
export interface Foundation {
  readonly configuration: Configuration;
  readonly environment: Environment;
  readonly redactor: Redactor;
  readonly logs: Logs;
  readonly dataSource: PooledDataSource;
  readonly providers: ModelProviders;
  readonly secrets: SecretBox;
  readonly replica: ReplicaId;
  readonly egress: Egress;
}

@Global()
@Module({})
class FoundationModule {
  static of({ environment, redactor, logs, providers, secrets, egress }: Foundation): DynamicModule {
    return {
      module: FoundationModule,
      providers: [
        { provide: Environment, useValue: environment },
        { provide: Redactor, useValue: redactor },
        { provide: Logs, useValue: logs },
        { provide: ModelProviders, useValue: providers },
        { provide: SecretBox, useValue: secrets },
        { provide: Egress, useValue: egress },
        SpanContent,
      ],
      exports: [Environment, Redactor, Logs, ModelProviders, SecretBox, Egress, SpanContent],
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
        MetricsModule.shownBy(MetricsController),
        EventsModule,
        AuditModule,
        OutboundModule,
        SecretsModule,
        RequestPipelineModule,
        ProfileModule.register(foundation.configuration.live.current.gateway, PROFILE_MODULES),
      ],
      providers: [AccessLog],
    };
  }
}
