import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import UPlot from 'uplot';

interface Line {
  readonly name: string;
  readonly color: '--plot-1' | '--plot-2' | '--plot-3';
  readonly values: readonly (number | null)[];
  readonly kind: 'bars' | 'area';
}

interface Props {
  readonly title: string;
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** For counts: no ticks between whole numbers. */
  readonly whole?: boolean;
  /** What readers should know without seeing the plot, such as the totals. */
  readonly summary: string;
}

const HEIGHT = 190;
const MOST_ROWS = 200;

/** A plot over time, and the same as a table for those who cannot see it. */
export function Plot({ title, times, lines, format, whole = false, summary }: Props): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const dark = useDark();
  const id = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: other colours, another plot
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const plot = new UPlot(optionsOf(element, { lines, format, whole }), dataOf(times, lines), element);
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [times, lines, format, whole, dark]);
  return (
    <figure className="plot">
      <figcaption id={id}>
        <strong>{title}</strong>
        <span className="muted">{summary}</span>
      </figcaption>
      <div ref={frame} role="img" aria-label={`${title}: ${summary}`} className="plot-frame" />
      <PlotTable title={title} times={times} lines={lines} format={format} />
    </figure>
  );
}

function PlotTable({ title, times, lines, format }: Omit<Props, 'summary'>): ReactNode {
  const [open, setOpen] = useState(false);
  const rows = times.map((time, index) => ({ time, index })).slice(-MOST_ROWS);
  return (
    <details className="plot-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <section tabIndex={0} aria-label={`${title} as a table`} className="plot-rows">
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                {lines.map(({ name }) => (
                  <th key={name} scope="col" className="cell-number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ time, index }) => (
                <tr key={time}>
                  <td>{new Date(time * 1000).toLocaleString('en-GB')}</td>
                  {lines.map(({ name, values }) => (
                    <td key={name} className="cell-number">
                      {format(values[index] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}

function dataOf(times: readonly number[], lines: readonly Line[]): UPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])];
}

function optionsOf(
  element: HTMLElement,
  { lines, format, whole }: Pick<Props, 'lines' | 'format' | 'whole'>,
): UPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const font = `12px ${style.fontFamily}`;
  const axis = {
    stroke: color('--muted'),
    font,
    grid: { stroke: color('--border'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: lines.length > 1, live: false },
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    scales: { x: { range: padded }, y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      { ...axis, size: 28, grid: { show: false }, values: (_plot, splits) => timesOf(splits) },
      {
        ...axis,
        size: 54,
        incrs: whole === true ? WHOLE : FINE,
        values: (_plot, values) => values.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...lines.map(({ name, color: variable, kind }) => ({
        label: name,
        stroke: color(variable),
        fill: kind === 'bars' ? color(variable) : `${color(variable)}33`,
        width: kind === 'bars' ? 0 : 2,
        points: { show: false },
        ...(kind === 'bars' && UPlot.paths.bars !== undefined
          ? { paths: UPlot.paths.bars({ size: [0.7, 40], radius: 0.2 }) }
          : {}),
      })),
    ],
  };
}

/** Half a bar of room at both ends. */
function padded(plot: UPlot, min: number, max: number): [number, number] {
  const [first = min, second = min + 3600] = plot.data[0];
  const half = (second - first) / 2;
  return [min - half, max + half];
}

const POWERS = [-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8].map((power) => 10 ** power);
const FINE = POWERS.flatMap((power) => [power, 2 * power, 5 * power]);
const WHOLE = FINE.filter((step) => step >= 1);

const DAY_AND_A_HALF = 129_600;
const hours = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

function timesOf(splits: readonly number[]): string[] {
  const span = (splits.at(-1) ?? 0) - (splits[0] ?? 0);
  const format = span < DAY_AND_A_HALF ? hours : days;
  return splits.map((seconds) => format.format(new Date(seconds * 1000)));
}

const DARK = '(prefers-color-scheme: dark)';

function useDark(): boolean {
  const [dark, setDark] = useState(() => matchMedia(DARK).matches);
  useEffect(() => {
    const query = matchMedia(DARK);
    const note = (): void => setDark(query.matches);
    query.addEventListener('change', note);
    return () => query.removeEventListener('change', note);
  }, []);
  return dark;
}
