import { Controller } from '@nestjs/common';
import type { FACES } from '../../platform/settings/sections/gateway.section.js';

/**
 * What is served besides the profiles, in the same way on the ports of all that are on, while `gateway.faces` names it.
 */
export type FaceId = (typeof FACES)[number];

/** How the paths of each face begin. */
const PREFIXES = {
  admin: ['admin/v1'],
  openai: ['v1'],
  mcp: ['mcp'],
  a2a: ['a2a', '.well-known/agent-card.json'],
  console: ['console'],
} as const satisfies Readonly<Record<FaceId, readonly string[]>>;

export const ADMIN_PREFIX = PREFIXES.admin[0];
const OPENAI_PREFIX = PREFIXES.openai[0];

/**
 * A controller of a face, whichever profiles are on; `path` is the whole path. Its module is listed in
 * `PROFILE_MODULES`: when the face is switched off the module is not loaded, so its paths are 404 for every token, like
 * any unknown path.
 */
export const FaceController = (path: string): ClassDecorator => Controller({ path, version: ['a', 'b'] });

/** A controller of the operators' API below `/admin/v1`. */
export const AdminController = (path: string): ClassDecorator => FaceController(`${ADMIN_PREFIX}/${path}`);

/** A controller of what clients of OpenAI's API find here, below `/v1`. */
export const OpenAiController = (path: string): ClassDecorator => FaceController(`${OPENAI_PREFIX}/${path}`);

const FACE_OF_PREFIX: ReadonlyMap<string, FaceId> = new Map(
  Object.entries(PREFIXES).flatMap(([face, prefixes]) =>
    prefixes.map((prefix) => [`/${prefix}`, face as FaceId] as const),
  ),
);
const PROFILES_OWN = '/api/';
const FACE_PATH = /^\/(?:admin\/v1|v1|mcp|a2a|\.well-known\/agent-card\.json|console)(?![^/?])/i;

/** The face that a URL belongs to; undefined for a profile's own. */
export function faceOf(url: string): FaceId | undefined {
  if (url.startsWith(PROFILES_OWN)) return undefined;
  const [prefix] = FACE_PATH.exec(url) ?? [];
  return prefix === undefined ? undefined : FACE_OF_PREFIX.get(prefix.toLowerCase());
}
