import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button';
import { Icon } from './icons';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog: the browser keeps the focus inside, closes it with Escape, and returns the focus. */
export function Dialog({ title, onClose, children }: Props): ReactNode {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} className="dialog" aria-labelledby={id} onCancel={onClose} onClose={onClose}>
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" small aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action: string;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({
  title,
  children,
  action,
  busy,
  error,
  onConfirm,
  onClose,
}: ConfirmProps): ReactNode {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-text">{children}</div>
      {error !== null && (
        <p className="help help-problem" role="alert">
          {error.message}
        </p>
      )}
      <div className="dialog-actions">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="danger" busy={busy} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
