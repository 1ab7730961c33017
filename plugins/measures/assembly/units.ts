/** A unit as `factor` and `offset` of the first of its kind: value * factor + offset. */
class Unit {
  constructor(
    readonly kind: string,
    readonly factor: f64,
    readonly offset: f64 = 0,
  ) {}
}

const units = new Map<string, Unit>();
function add(kind: string, name: string, factor: f64, offset: f64 = 0): void {
  units.set(name, new Unit(kind, factor, offset));
}
add('length', 'm', 1);
add('length', 'mm', 0.001);
add('length', 'cm', 0.01);
add('length', 'km', 1000);
add('length', 'in', 0.0254);
add('length', 'ft', 0.3048);
add('length', 'yd', 0.9144);
add('length', 'mi', 1609.344);
add('length', 'nmi', 1852);
add('mass', 'kg', 1);
add('mass', 'g', 0.001);
add('mass', 'mg', 0.000001);
add('mass', 't', 1000);
add('mass', 'oz', 0.028349523125);
add('mass', 'lb', 0.45359237);
add('temperature', 'K', 1);
add('temperature', 'C', 1, 273.15);
add('temperature', 'F', 5.0 / 9.0, (459.67 * 5.0) / 9.0);
add('volume', 'l', 1);
add('volume', 'ml', 0.001);
add('volume', 'm3', 1000);
add('volume', 'gal', 3.785411784);
add('speed', 'm/s', 1);
add('speed', 'km/h', 1.0 / 3.6);
add('speed', 'mph', 0.44704);
add('speed', 'kn', 1852.0 / 3600.0);
add('data', 'B', 1);
add('data', 'kB', 1000);
add('data', 'MB', 1000000);
add('data', 'GB', 1000000000);
add('data', 'KiB', 1024);
add('data', 'MiB', 1048576);
add('data', 'GiB', 1073741824);

export function unitNames(): string {
  return units.keys().join(', ');
}

/** The value in the other unit; NaN when the units are unknown or of different kinds. */
export function convert(value: f64, from: string, to: string): f64 {
  if (!units.has(from) || !units.has(to)) return NaN;
  const one = units.get(from);
  const other = units.get(to);
  if (one.kind != other.kind) return NaN;
  return (value * one.factor + one.offset - other.offset) / other.factor;
}
