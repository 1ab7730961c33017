// The part of the Extism ABI that a tool needs: read the input, leave an output.

@external("extism:host/env", "input_length")
declare function input_length(): u64;
@external("extism:host/env", "input_load_u8")
declare function input_load_u8(offset: u64): u8;
@external("extism:host/env", "alloc")
declare function alloc(length: u64): u64;
@external("extism:host/env", "store_u8")
declare function store_u8(offset: u64, byte: u8): void;
@external("extism:host/env", "output_set")
declare function output_set(offset: u64, length: u64): void;

export function readInput(): string {
  const length = i32(input_length());
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = input_load_u8(at);
  return String.UTF8.decode(bytes.buffer);
}

export function writeOutput(text: string): void {
  const bytes = Uint8Array.wrap(String.UTF8.encode(text));
  const offset = alloc(bytes.length);
  for (let at = 0; at < bytes.length; at++) store_u8(offset + at, bytes[at]);
  output_set(offset, bytes.length);
}
