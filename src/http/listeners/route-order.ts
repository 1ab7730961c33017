import type { Express } from 'express';
import { API_PREFIX } from '../profiles/profile.js';

/** Nearly every request goes to one of these. */
const FIRST = `/${API_PREFIX}/sessions`;

/**
 * Express tries its routes one after the other until one fits. Puts those of sessions before all others, and leaves both
 * in their order: no route of another path fits a request to them. Called once, when all routes are there.
 */
export function sessionsFirst({ router }: Pick<Express, 'router'>): void {
  const layers = router.stack;
  const start = layers.findIndex(({ route }) => route !== undefined);
  const routes = layers.splice(Math.max(start, 0));
  const isFirst = ({ route }: (typeof layers)[number]) => String(route?.path).startsWith(FIRST);
  layers.push(...routes.filter(isFirst), ...routes.filter((layer) => !isFirst(layer)));
}
