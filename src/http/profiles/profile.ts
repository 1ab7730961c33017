import { Controller, type Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';

/** The specification's two variants of the interface. */
export type ProfileId = 'a' | 'b';

/** Who a listener serves: a profile, or the operators' probes and metrics. */
export type ListenerId = ProfileId | 'operations';

export const API_PREFIX = 'api/v1';

/** A controller of Profile A below `/api/v1`. The prefix is part of the path: Nest's global prefix would leave the rest in HTML. */
export const ProfileAController = (path: string): ClassDecorator => profileController('a', path);

/** A controller of Profile B below `/api/v1`. */
export const ProfileBController = (path: string): ClassDecorator => profileController('b', path);

/** A controller that both profiles serve alike. Their modules list it as `servedIn` makes it. */
export const BothProfilesController = (path: string): ClassDecorator =>
  Controller({ path: `${API_PREFIX}/${path}` });

/**
 * A controller of both profiles as one of them serves it. It is a class of its own: listing the same class in two
 * modules would register its routes twice, and one module for both would serve the routes of a profile that is off.
 */
export function servedIn(profile: ProfileId, controller: Type): Type {
  const name = `${controller.name}${profile.toUpperCase()}`;
  const served = { [name]: class extends controller {} }[name] as Type;
  Controller({ path: Reflect.getMetadata(PATH_METADATA, controller) as string, version: profile })(served);
  return served;
}

/** A controller on the operations port, which needs no token and stays inside the cluster. */
export const OperationsController = (): ClassDecorator => Controller({ path: '', version: 'operations' });

function profileController(profile: ProfileId, path: string): ClassDecorator {
  return Controller({ path: `${API_PREFIX}/${path}`, version: profile });
}
