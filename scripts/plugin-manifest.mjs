import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';

/** Also matches inside a multi-line string; the caller checks by parsing the result. */
const hashLines = /^[ \t]*(?:sha256|"sha256")[ \t]*=[ \t]*("[^"\n]*"|'[^'\n]*')/gm;

/** The module file and its hash in a plugin.toml, however they are written. Throws when the text is not TOML. */
export function moduleOf(toml) {
  const { wasm = 'plugin.wasm', sha256 } = parse(toml);
  return { wasm, sha256 };
}

/**
 * The same plugin.toml with this hash, which is added when there is none. Everything else stays, including comments.
 */
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
