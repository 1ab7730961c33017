import { SUBSCRIBABLE } from '../../platform/events/event-catalogue.js';

/** What a webhook may subscribe to: events, everything of an area, everything. */
export const SUBSCRIPTIONS: readonly string[] = SUBSCRIBABLE;
