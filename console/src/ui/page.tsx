import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';

interface Props {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Uses the height of the window, and scrolls inside. */
  readonly tall?: boolean;
}

/** A page with its heading, which gets the focus so that keyboard and screen reader users start there. */
export function Page({ title, description, actions, children, tall }: Props): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Agent Gateway`;
  }, [title]);
  useLayoutEffect(() => {
    const element = heading.current;
    const isNew = lastPath !== undefined && lastPath !== location.pathname;
    if (isNew || takesFocusOver) element?.focus({ preventScroll: true });
    lastPath = location.pathname;
    return () => {
      takesFocusOver = document.activeElement === element;
    };
  }, []);
  return (
    <div className={tall === true ? 'page page-tall' : 'page'}>
      <header className="page-head">
        <div className="page-heading">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {description !== undefined && <p className="muted">{description}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** The first page leaves the focus where the browser put it. */
let lastPath: string | undefined;
/** Whether the previous heading had the focus, for example the heading of this page while it was loading. */
let takesFocusOver = false;

interface CardProps {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly flush?: boolean;
}

export function Card({ title, actions, children, flush }: CardProps): ReactNode {
  return (
    <section className={flush === true ? 'card card-flush' : 'card'}>
      {title !== undefined && (
        <div className="card-head">
          <h2>{title}</h2>
          {actions}
        </div>
      )}
      {children}
    </section>
  );
}
