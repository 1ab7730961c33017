/** What others may use of sessions: create, find, list and end them, send them messages, and which channels they may be on. */
export { API_CHANNEL, ChannelDirectory } from './channel-directory.js';
export { MessagesService } from './messages.service.js';
export { SessionsService } from './sessions.service.js';
