/** What other areas may use: views of a session, records of turns, ids of events, and the open viewers. */
export { AwaitedAnswers } from './awaited-answers.service.js';
export { BadLastEventId, eventId, parseEventId, type SeenEvent } from './event-id.js';
export { ResumedTurns } from './resumed-turns.service.js';
export { SessionViews } from './session-views.service.js';
export { type TurnRecord, TurnRecords } from './turn-records.store.js';
export { Viewer } from './viewer.js';
export { Viewers } from './viewers.service.js';
export { WatchedTurn } from './watched-turn.js';
