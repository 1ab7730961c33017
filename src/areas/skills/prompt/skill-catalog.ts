import type { LoadedSkill } from '../skill.js';

const INTRODUCTION =
  'Skills are instructions for particular tasks. When a task fits the description of one, read it with the tool ' +
  'skill_read before you begin, and follow it.';
const BEGIN = '<available_skills>';
const END = '</available_skills>';

const entries = new WeakMap<LoadedSkill, string>();

export interface SkillCatalog {
  /** Empty when there is nothing in it. */
  readonly text: string;
  /** Skills that no longer fitted. */
  readonly leftOut: number;
}

/** What the model knows of all skills before it reads one; in at most so many bytes, the first ones first. */
export function skillCatalog(skills: readonly LoadedSkill[], maxBytes: number): SkillCatalog {
  const frame = Buffer.byteLength(`${INTRODUCTION}\n${BEGIN}\n\n${END}`);
  let left = maxBytes - frame;
  const shown: string[] = [];
  for (const skill of skills) {
    const entry = entryOf(skill);
    left -= Buffer.byteLength(entry) + 1;
    if (left < 0) break;
    shown.push(entry);
  }
  const leftOut = skills.length - shown.length;
  if (shown.length === 0) return { text: '', leftOut };
  return { text: [INTRODUCTION, BEGIN, ...shown, END].join('\n'), leftOut };
}

/** Nothing in a name or a description can end the list or begin another one. */
function entryOf(skill: LoadedSkill): string {
  const known = entries.get(skill);
  if (known !== undefined) return known;
  const { name, description } = skill;
  const entry = `<skill><name>${escaped(name)}</name><description>${escaped(description)}</description></skill>`;
  entries.set(skill, entry);
  return entry;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\p{Cc}\p{Cf}]/gu, '');
}
