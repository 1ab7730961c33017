import { type ReactNode, useEffect, useId, useState } from 'react';

const TYPING_MS = 300;

export function Filters({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <search className="filters" aria-label={label}>
      {children}
    </search>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
}

/** A text filter; takes effect when typing pauses. */
export function SearchField({ label, value, onChange, hint }: FieldProps): ReactNode {
  const id = useId();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        type="search"
        placeholder={hint}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </div>
  );
}

interface SelectProps extends FieldProps {
  readonly options: readonly (readonly [value: string, text: string])[];
}

export function SelectField({ label, value, options, onChange }: SelectProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

export function TextField({ label, value, onChange, hint }: FieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        autoComplete="off"
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="help">
          {hint}
        </p>
      )}
    </div>
  );
}

export function TextAreaField({ label, value, onChange, hint }: FieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input mono"
        rows={6}
        spellCheck={false}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="help">
          {hint}
        </p>
      )}
    </div>
  );
}
