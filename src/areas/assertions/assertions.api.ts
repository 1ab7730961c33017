/** What others may ask of assertions: one that says for whom they act. */
export { Assertions } from './assertions.service.js';
