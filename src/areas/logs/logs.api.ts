/** What others may use of logs: how many streams are open. */
export { LogStreams } from './stream/log-streams.service.js';
