/** What others may ask of channels: how they are. */
export { ChannelReports } from './channel-reports.service.js';
