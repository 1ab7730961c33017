/** What other areas may use: an assertion that says for whom they act. */
export { Assertions } from './assertions.service.js';
