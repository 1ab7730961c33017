/** What others may use of skills: which there are. */
export { Skills } from './skills.service.js';
