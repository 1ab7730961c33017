/** What other areas may use: to create, find, list and end sessions, to send them messages, and to know their channels. */
export { API_CHANNEL, ChannelDirectory } from './channel-directory.js';
export { MessagesService } from './messages.service.js';
export { SessionsService } from './sessions.service.js';
