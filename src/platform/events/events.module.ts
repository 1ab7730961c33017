import { Global, Module } from '@nestjs/common';
import { EventSignal, EventStore } from './event.store.js';

/** Events of every area, on their way to the hooks that subscribed. */
@Global()
@Module({ providers: [EventStore, EventSignal], exports: [EventStore, EventSignal] })
export class EventsModule {}
