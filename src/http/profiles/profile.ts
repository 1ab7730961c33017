import { Controller } from '@nestjs/common';

/** The specification's two variants of the interface. */
export type ProfileId = 'a' | 'b';

/** Who a listener serves: a profile, or the operators' probes and metrics. */
export type ListenerId = ProfileId | 'operations';

export const API_PREFIX = 'api/v1';

/** A controller of Profile A below `/api/v1`. The prefix is part of the path: Nest's global prefix would leave the rest in HTML. */
export const ProfileAController = (path: string): ClassDecorator => profileController('a', path);

/** A controller of Profile B below `/api/v1`. */
export const ProfileBController = (path: string): ClassDecorator => profileController('b', path);

/** A controller on the operations port, which needs no token and stays inside the cluster. */
export const OperationsController = (): ClassDecorator => Controller({ path: '', version: 'operations' });

function profileController(profile: ProfileId, path: string): ClassDecorator {
  return Controller({ path: `${API_PREFIX}/${path}`, version: profile });
}
