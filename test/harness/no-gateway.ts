import type { StartGateway } from '../../src/cli/serve/served-gateway.js';

/** For command lines that must not start a gateway. */
export const startNoGateway: StartGateway = () => Promise.reject(new Error('No gateway is started here.'));
