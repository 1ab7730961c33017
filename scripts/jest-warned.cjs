/** Precedes, in a failure, what gateways warned of: the environment writes it, and the reporter finds it. */
exports.WARNED = 'What the gateways of this file warned of, the newest last:';
