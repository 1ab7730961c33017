/** What others may use of live turns: views of a session, records of turns that ended, ids of events, the viewers that are open. */
export { BadLastEventId, eventId, parseEventId, type SeenEvent } from './event-id.js';
export { ResumedTurns } from './resumed-turns.service.js';
export { SessionViews } from './session-views.service.js';
export { type TurnRecord, TurnRecords } from './turn-records.store.js';
export { type CutReason, Viewer } from './viewer.js';
export { Viewers } from './viewers.service.js';
