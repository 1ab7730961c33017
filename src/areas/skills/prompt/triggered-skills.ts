import type { LoadedSkill } from '../skill.js';
import { normalized, TriggerText } from './trigger-text.js';

/** Of a longer message the beginning and the end are looked at, so many characters each. */
const LOOKED_AT = 8192;

const known = new WeakMap<LoadedSkill, readonly string[]>();

/** The skills that a message asks for: those named as `/name` first, then those with a trigger in it. */
export function triggeredSkills(
  skills: readonly LoadedSkill[],
  message: string,
  most: number,
): readonly LoadedSkill[] {
  if (most === 0 || skills.length === 0) return [];
  const text = new TriggerText(endsOf(message));
  const named = message.includes('/') ? skills.filter(({ name }) => text.hasCommand(name)) : [];
  if (named.length >= most) return named.slice(0, most);
  const meant = skills.filter(
    (skill) => !named.includes(skill) && triggersOf(skill).some((trigger) => text.hasWords(trigger)),
  );
  return [...named, ...meant].slice(0, most);
}

function endsOf(message: string): string {
  if (message.length <= 2 * LOOKED_AT) return message;
  return `${message.slice(0, LOOKED_AT)}\n${message.slice(-LOOKED_AT)}`;
}

function triggersOf(skill: LoadedSkill): readonly string[] {
  let triggers = known.get(skill);
  if (triggers === undefined) {
    triggers = skill.triggers.map(normalized);
    known.set(skill, triggers);
  }
  return triggers;
}
