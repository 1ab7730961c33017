import { memo, type ReactNode, useDeferredValue, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useSigned } from '../auth/auth';
import { type Line, useLogTail } from '../logs/use-log-tail';
import { Link, setQuery, usePlace } from '../router';
import { Badge, type Tone } from '../ui/badge';
import { Button } from '../ui/button';
import { Filters, SearchField, SelectField } from '../ui/fields';
import { clockTime, exactTime } from '../ui/format';
import { Page } from '../ui/page';
import { Empty, Failure, Loading } from '../ui/states';

const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
const TONES: Readonly<Record<string, Tone>> = { error: 'bad', warn: 'warn', info: 'info' };

/** The newest lines of the log, as they arrive. */
export default function Logs(): ReactNode {
  const { api, me } = useSigned();
  const { query } = usePlace();
  const [paused, setPaused] = useState(false);
  const [level, find] = [query.get('level') ?? 'info', query.get('find') ?? ''];
  const tail = useLogTail({ api, profile: me.profile, level, paused });
  const lines = useDeferredValue(tail.lines);
  const shown = useMemo(() => lines.filter((line) => fits(line, find.toLowerCase())), [lines, find]);
  return (
    <Page
      tall
      title="Logs"
      description="Of all replicas, newest at the end; the last 1,000 lines are kept here."
      actions={
        <>
          <Badge tone={paused ? 'quiet' : tail.state === 'live' ? 'good' : 'warn'}>
            {paused ? 'paused' : tail.state}
          </Badge>
          <Button onClick={() => setPaused(!paused)} aria-pressed={paused}>
            {paused ? 'Go on' : 'Pause'}
          </Button>
        </>
      }
    >
      <Filters label="Filter the log">
        <SearchField
          label="Find"
          hint="In message or module"
          value={find}
          onChange={(value) => setQuery({ find: value })}
        />
        <SelectField
          label="Level"
          value={level}
          options={LEVELS.map((one) => [one, one === 'error' ? 'error' : `${one} and above`] as const)}
          onChange={(value) => setQuery({ level: value === 'info' ? '' : value })}
        />
      </Filters>
      {tail.error !== undefined && <Failure error={tail.error} />}
      <Lines lines={shown} isLoading={tail.state === 'loading'} />
    </Page>
  );
}

function fits({ entry: { message, module, component } }: Line, find: string): boolean {
  return find === '' || `${module ?? component ?? ''} ${message}`.toLowerCase().includes(find);
}

function Lines({
  lines,
  isLoading,
}: {
  readonly lines: readonly Line[];
  readonly isLoading: boolean;
}): ReactNode {
  const list = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const element = list.current;
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
  });
  return (
    <section
      ref={list}
      className="log card"
      aria-label="Lines of the log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40;
      }}
    >
      {isLoading && <Loading />}
      {!isLoading && lines.length === 0 && <Empty title="No matching lines" />}
      <ol>
        {lines.map((line) => (
          <LogLine key={line.number} line={line} />
        ))}
      </ol>
    </section>
  );
}

const LogLine = memo(function LogLine({ line: { entry } }: { readonly line: Line }): ReactNode {
  const { timestamp, level, module, component, message, session_id } = entry;
  return (
    <li className="log-line">
      <time dateTime={timestamp} title={exactTime(timestamp)}>
        {clockTime(timestamp)}
      </time>
      <span className={`log-level log-${TONES[level] ?? 'quiet'}`}>{level}</span>
      <span className="log-text">
        <span className="muted">{module ?? component}</span> {message}{' '}
        {session_id !== undefined && <Link to={`/sessions/${session_id}`}>session</Link>}
      </span>
    </li>
  );
});
