import type { ButtonHTMLAttributes, ReactNode } from 'react';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly wide?: boolean;
  /** While it works, it cannot be pressed again. */
  readonly busy?: boolean;
  readonly small?: boolean;
}

export function Button({
  kind = 'plain',
  wide,
  busy,
  small,
  className,
  disabled,
  ...rest
}: Props): ReactNode {
  const classes = ['button', `button-${kind}`, wide && 'wide', small && 'button-small', className];
  return (
    <button
      type="button"
      {...rest}
      className={classes.filter(Boolean).join(' ')}
      disabled={disabled === true || busy === true}
      aria-busy={busy === true}
    />
  );
}
