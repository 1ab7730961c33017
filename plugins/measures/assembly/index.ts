// Two tools for what language models are bad at: counting text, and converting units exactly.
import { readInput, writeOutput } from './extism';
import { JsonObject, quote } from './json';
import { convert, unitNames } from './units';

export function describe(): i32 {
  writeOutput(
    '{"tools":[{"name":"count_text","description":"Counts the characters, words, lines and UTF-8 bytes of a text exactly.",' +
      '"inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false},' +
      '"annotations":{"readOnlyHint":true}},' +
      '{"name":"convert_unit","description":"Converts a value between units of one kind. Units: ' +
      unitNames() +
      '.",' +
      '"inputSchema":{"type":"object","properties":{"value":{"type":"number"},"from":{"type":"string"},"to":{"type":"string"}},' +
      '"required":["value","from","to"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}]}',
  );
  return 0;
}

export function call(): i32 {
  const params = new JsonObject(readInput()).object('params');
  const args = params.object('arguments');
  if (params.text('name') == 'count_text') answer(countText(args.text('text')));
  else convertUnit(args);
  return 0;
}

function convertUnit(args: JsonObject): void {
  const value = args.number('value');
  const from = args.text('from');
  const to = args.text('to');
  const converted = convert(value, from, to);
  if (isNaN(converted)) answer(`Cannot convert from ${from} to ${to}. Units: ${unitNames()}.`, true);
  // Twelve digits: the last ones of a binary fraction say nothing.
  else answer(`${value} ${from} = ${rounded(converted)} ${to}`);
}

function rounded(value: f64): f64 {
  if (value == 0) return 0;
  const scale = 10 ** (11 - Math.floor(Math.log10(Math.abs(value))));
  return isFinite(scale) ? Math.round(value * scale) / scale : value;
}

function countText(text: string): string {
  let characters = 0;
  let words = 0;
  let lines = text.length > 0 ? 1 : 0;
  let inWord = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // The second half of a pair belongs to the character before it.
    if ((code & 0xfc00) != 0xdc00) characters++;
    if (code == 0x0a && at < text.length - 1) lines++;
    const isBlank = code <= 0x20 || code == 0xa0 || code == 0x3000;
    if (!isBlank && !inWord) words++;
    inWord = !isBlank;
  }
  const bytes = String.UTF8.byteLength(text);
  return `characters: ${characters}, words: ${words}, lines: ${lines}, bytes: ${bytes}`;
}

function answer(text: string, isError: bool = false): void {
  writeOutput(`{"content":[{"type":"text","text":${quote(text)}}],"isError":${isError ? 'true' : 'false'}}`);
}
