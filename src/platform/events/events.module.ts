import { Global, Module } from '@nestjs/common';
import { EventStore } from './event.store.js';
import { EventSignal } from './event-signal.js';

/** Events of every area, on their way to the hooks that subscribed. */
@Global()
@Module({ providers: [EventStore, EventSignal], exports: [EventStore, EventSignal] })
export class EventsModule {}
