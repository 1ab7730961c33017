import { useCallback, useEffect, useRef, useState } from 'react';
import { type Frame, isEndOfTurn, type LiveTurn, NO_TURN, withFrames } from './turn-events';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
/** How often new text is drawn: as often as the eye can follow, however fast it arrives. */
const DRAW_MS = 50;

export type Connection = 'connecting' | 'open' | 'lost' | 'refused';

export interface Live {
  readonly turn: LiveTurn;
  readonly connection: Connection;
  /** @returns whether it could be sent */
  readonly send: (frame: Readonly<Record<string, unknown>>) => boolean;
  /** Called once the history is as new as the end of the turn. */
  readonly clear: () => void;
}

interface Options {
  readonly sessionId: string;
  readonly token: string;
  /** The first frame of a turn that was not seen before; the turn is over. */
  readonly onStart: () => void;
  readonly onDone: () => void;
}

/** Follows a session over its WebSocket. After a lost connection it continues from the last frame it saw. */
export function useLiveTurn({ sessionId, token, onStart, onDone }: Options): Live {
  const [turn, setTurn] = useState(NO_TURN);
  const [connection, setConnection] = useState<Connection>('connecting');
  const socket = useRef<WebSocket>(undefined);
  const notify = useRef({ onStart, onDone });
  useEffect(() => {
    notify.current = { onStart, onDone };
  });

  useEffect(() => {
    const queue: Frame[] = [];
    const ended = new AbortController();
    let running = false;
    const draw = (): void => {
      if (queue.length === 0) return;
      const frames = queue.splice(0);
      setTurn((before) => withFrames(before, frames));
    };
    const timer = setInterval(draw, DRAW_MS);
    const take = (frame: Frame): void => {
      if (frame.type === 'pong') return;
      const isEnd = isEndOfTurn(frame);
      queue.push(frame);
      if (frame.type === 'error' && !isEnd) return;
      if (!isEnd && !running) notify.current.onStart();
      running = !isEnd;
      if (!isEnd) return;
      draw();
      notify.current.onDone();
    };
    void follow({ sessionId, token, take, socket, onConnection: setConnection, signal: ended.signal });
    return () => {
      clearInterval(timer);
      ended.abort();
      // A connection that is still opening is closed once it is open: closing it earlier would show an error in the
      // browser's console.
      if (socket.current?.readyState === WebSocket.OPEN) socket.current.close();
    };
  }, [sessionId, token]);

  const send = useCallback((frame: Readonly<Record<string, unknown>>) => {
    if (socket.current?.readyState !== WebSocket.OPEN) return false;
    socket.current.send(JSON.stringify(frame));
    return true;
  }, []);
  const clear = useCallback(
    () => setTurn((before) => (before.answerId === undefined ? before : { ...NO_TURN, error: before.error })),
    [],
  );
  return { turn, connection, send, clear };
}

interface Following {
  readonly sessionId: string;
  readonly token: string;
  readonly take: (frame: Frame) => void;
  readonly socket: { current: WebSocket | undefined };
  readonly onConnection: (connection: Connection) => void;
  readonly signal: AbortSignal;
}

async function follow({ sessionId, token, take, socket, onConnection, signal }: Following): Promise<void> {
  let lastEventId: string | undefined;
  let wait = FIRST_WAIT_MS;
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    const url = new URL(`/ws/sessions/${sessionId}`, location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    if (lastEventId !== undefined) url.searchParams.set('last_event_id', lastEventId);
    const opened = new WebSocket(url, ['gateway.v1', `bearer.${token}`]);
    socket.current = opened;
    opened.onopen = () => {
      if (isOver()) {
        opened.close();
        return;
      }
      wait = FIRST_WAIT_MS;
      onConnection('open');
    };
    opened.onmessage = ({ data }) => {
      const frame = JSON.parse(String(data)) as Frame;
      lastEventId = frame.event_id ?? lastEventId;
      if (!isOver()) take(frame);
    };
    const { code } = await closed(opened);
    if (isOver()) return;
    if (code === 1008) {
      onConnection('refused');
      return;
    }
    onConnection('lost');
    await pause(wait, signal);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

function closed(socket: WebSocket): Promise<CloseEvent> {
  return new Promise((resolve) => socket.addEventListener('close', resolve, { once: true }));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
