// As much of JSON as the arguments of a tool need. The host has parsed and checked them, so they are well formed.

/** Reads one value of an object at a time; the text of what is not asked for is passed over. */
export class JsonObject {
  private values: Map<string, string> = new Map();

  constructor(text: string) {
    let at = blank(text, 0) + 1;
    while (at < text.length) {
      at = blank(text, at);
      if (text.charAt(at) == '}') break;
      if (text.charAt(at) == ',') {
        at++;
        continue;
      }
      const nameEnd = valueEnd(text, at);
      const start = blank(text, blank(text, nameEnd) + 1);
      const end = valueEnd(text, start);
      this.values.set(unquote(text.slice(at, nameEnd)), text.slice(start, end));
      at = end;
    }
  }

  object(name: string): JsonObject {
    return new JsonObject(this.values.has(name) ? this.values.get(name) : '{}');
  }

  text(name: string): string {
    return this.values.has(name) ? unquote(this.values.get(name)) : '';
  }

  number(name: string): f64 {
    return this.values.has(name) ? parseFloat(this.values.get(name)) : NaN;
  }
}

export function quote(text: string): string {
  let quoted = '"';
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code == 0x22 || code == 0x5c) quoted += '\\' + text.charAt(at);
    else if (code < 0x20)
      quoted += '\\u00' + (code < 0x10 ? '0' : '1') + '0123456789abcdef'.charAt(code & 0xf);
    else quoted += text.charAt(at);
  }
  return quoted + '"';
}

function blank(text: string, from: i32): i32 {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** Where the value that begins here ends. */
function valueEnd(text: string, from: i32): i32 {
  let depth = 0;
  let inText = false;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inText) {
      if (code == 0x5c) at++;
      else if (code == 0x22) {
        inText = false;
        if (depth == 0) return at + 1;
      }
    } else if (code == 0x22) inText = true;
    else if (code == 0x7b || code == 0x5b) depth++;
    else if (code == 0x7d || code == 0x5d) {
      if (depth == 0) return at;
      depth--;
      if (depth == 0) return at + 1;
    } else if (depth == 0 && (code == 0x2c || code == 0x3a || code <= 0x20)) return at;
  }
  return text.length;
}

function unquote(text: string): string {
  let plain = '';
  for (let at = 1; at < text.length - 1; at++) {
    const code = text.charCodeAt(at);
    if (code != 0x5c) {
      plain += text.charAt(at);
      continue;
    }
    at++;
    const escape = text.charAt(at);
    if (escape == 'u') {
      plain += String.fromCharCode(i32(parseInt(text.slice(at + 1, at + 5), 16)));
      at += 4;
    } else if (escape == 'n') plain += '\n';
    else if (escape == 't') plain += '\t';
    else if (escape == 'r') plain += '\r';
    else if (escape == 'b') plain += '\b';
    else if (escape == 'f') plain += '\f';
    else plain += escape;
  }
  return plain;
}
