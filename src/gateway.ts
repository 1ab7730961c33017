import 'reflect-metadata';
import { VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import express, { type Express } from 'express';
import { AppModule, type Foundation } from './app.module.js';
import { TeamsFileConsents } from './areas/channels/adapters/teams/teams-file-consents.service.js';
import { Viewers } from './areas/live/viewers.service.js';
import { LogStreams } from './areas/logs/stream/log-streams.service.js';
import { SessionSockets } from './areas/sessions/wire/socket/session-sockets.service.js';
import { TurnSlots } from './areas/turns/limits/turn-slots.js';
import { RunningTurns } from './areas/turns/running-turns.js';
import { TurnInterrupted } from './areas/turns/turns.errors.js';
import { AccessLog } from './http/access-log/access-log.js';
import { RawRefusal } from './http/envelope/raw-refusal.js';
import type { GatewayRequest } from './http/gateway-request.js';
import { type ListenerPorts, ProfileListeners } from './http/listeners/profile-listeners.js';
import { sessionsFirst } from './http/listeners/route-order.js';
import { OpenPorts } from './http/listeners/unknown-path.controller.js';
import { forBrowsers } from './http/middleware.js';
import { OpenApiDocuments } from './http/openapi/api-documents.js';
import { readBuildInfo } from './platform/lifecycle/build-info.js';
import { type DrainedTurns, DrainService, type StopOptions } from './platform/lifecycle/drain.service.js';
import { EndingParts } from './platform/lifecycle/ending-parts.js';
import { Readiness } from './platform/lifecycle/readiness.js';
import { NestLogger } from './platform/logging/nest-logger.js';
import type { Settings } from './platform/settings/settings.js';
import { DESCRIBED_API } from './profiles.module.js';

/** A gateway that answers on its ports. */
export interface RunningGateway {
  readonly app: NestExpressApplication;
  readonly ports: ListenerPorts;
  /** Tells balancers to send requests, once what they need is there. */
  ready(): void;
  /**
   * Drains and stops everything but the database, in the order of the architecture page. Runs once; later calls wait.
   */
  stop(options?: StopOptions): Promise<void>;
  /** Ends a running `stop` sooner: what still runs is interrupted now. */
  hurry(): void;
}

/** Builds the application and opens its ports; `/readyz` is 503 until `ready`. The caller opened the database, and closes it after `stop`. */
export async function openGateway(foundation: Foundation): Promise<RunningGateway> {
  const server = plainExpress();
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.of(foundation),
    new ExpressAdapter(server),
    {
      logger: new NestLogger(foundation.logs),
      bodyParser: false,
      abortOnError: false,
      routeResolutionStrategy: 'specificity',
      routeConflictPolicy: { duplicate: 'error' },
    },
  );
  try {
    return await listen(app, server, foundation);
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function listen(
  app: NestExpressApplication,
  server: Express,
  foundation: Foundation,
): Promise<RunningGateway> {
  app.enableVersioning({
    type: VersioningType.CUSTOM,
    extractor: (request: unknown) => (request as GatewayRequest).profile,
    defaultVersion: 'nowhere',
  });
  app.use(forBrowsers(foundation.configuration.live));
  await app.init();
  sessionsFirst(server);
  app.get(OpenApiDocuments, { strict: false }).describe(app, DESCRIBED_API, readBuildInfo().version);
  const readiness = app.get(Readiness);
  const rawRefusal = app.get(RawRefusal, { strict: false });
  const listeners = new ProfileListeners(server, app.get(AccessLog), rawRefusal);
  const ports = await listeners.open(foundation.configuration.live.current.gateway);
  app.get(OpenPorts, { strict: false }).opened(ports);
  const sockets = app.get(SessionSockets, { strict: false });
  listeners.onUpgrade((profile, request, socket, head) => sockets.accept(profile, request, socket, head));
  const drain = new DrainService({
    readiness,
    listeners,
    streams: [LogStreams, Viewers, TeamsFileConsents].map((one) =>
      app.get<{ endAll(): void }>(one, { strict: false }),
    ),
    settings: foundation.configuration.live,
    turns: drainedTurns(app, foundation.configuration.live),
    logger: foundation.logs.for('gateway::drain'),
    closeApp: () => app.close(),
    ending: EndingParts.of(app),
  });
  return {
    ...{ app, ports },
    ready: () => readiness.ready(),
    stop: (options) => drain.stop(options),
    hurry: () => drain.hurry(),
  };
}

/** Express without the features that a JSON API does not need. */
function plainExpress(): Express {
  const server = express();
  server.disable('x-powered-by');
  server.disable('etag');
  server.set('query parser', 'simple');
  return server;
}

/** One that is about to begin is waited for like one that runs: it would find the tools gone. */
function drainedTurns(app: NestExpressApplication, settings: Settings): DrainedTurns {
  const turns = app.get(RunningTurns);
  const slots = app.get(TurnSlots, { strict: false });
  return {
    get count() {
      return turns.count + slots.beginning;
    },
    async allEnded() {
      await slots.noneBegins();
      await turns.allEnded();
    },
    handOverAtStep: () => {
      if (settings.current.agent.resume) turns.handOver(false);
    },
    endAll: () =>
      settings.current.agent.resume ? turns.handOver(true) : turns.endAll(() => new TurnInterrupted()),
  };
}
