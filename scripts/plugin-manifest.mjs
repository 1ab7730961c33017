import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';

/** Also where it stands in a text of several lines, which is found out by reading the result. */
const hashLines = /^[ \t]*(?:sha256|"sha256")[ \t]*=[ \t]*("[^"\n]*"|'[^'\n]*')/gm;

/** The module's file and its hash, as a plugin.toml names them, however it is written. Throws when it is no TOML. */
export function moduleOf(toml) {
  const { wasm = 'plugin.wasm', sha256 } = parse(toml);
  return { wasm, sha256 };
}

/** The same plugin.toml with this hash and nothing else changed, comments included; put in where there is none. */
export function withHash(toml, hash) {
  const wanted = { ...parse(toml), sha256: hash };
  const changed = candidates(toml, `"${hash}"`).find((text) => says(text, wanted));
  if (changed === undefined) throw new Error('plugin.toml: write sha256 = "…" on a line of its own');
  return changed;
}

function candidates(toml, value) {
  const replaced = [...toml.matchAll(hashLines)].map(({ 0: line, 1: old, index }) => {
    const start = index + line.length - old.length;
    return toml.slice(0, start) + value + toml.slice(start + old.length);
  });
  return [...replaced, `sha256 = ${value}\n${toml}`];
}

function says(toml, wanted) {
  try {
    return isDeepStrictEqual({ ...parse(toml) }, wanted);
  } catch {
    return false;
  }
}
