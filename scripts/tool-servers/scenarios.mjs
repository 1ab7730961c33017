/** Why a scenario of the suite does not apply to this client; undefined when the client has to pass it. */
export function notApplicableReason(scenario) {
  if (scenario.startsWith('sep-2640-')) return 'skills of tool servers, an extension; the gateway reads none';
  return undefined;
}
