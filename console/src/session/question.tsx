import { type ReactNode, type SubmitEvent, useState } from 'react';
import { useSigned } from '../auth/auth';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { SelectField, TextField } from '../ui/fields';
import { useChange } from '../ui/queries';
import { answerOf, fieldsOf, type QuestionField } from './question-fields';
import type { LivePart } from './turn-events';

type Question = Extract<LivePart, { kind: 'question' }>;

interface Answer {
  readonly action: 'accept' | 'decline';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** A question of a running tool, with a form to answer it. */
export function QuestionView({ question }: { readonly question: Question }): ReactNode {
  const { can } = useSigned();
  const { id, tool, message, schema, url, status } = question;
  const isOpen = status === 'pending';
  return (
    <section className="call question" aria-label={`Question of ${tool}`}>
      <p className="question-head">
        <span className="mono break">{tool}</span> asks <Badge>{status}</Badge>
      </p>
      <p className="plain-text">{message}</p>
      {url !== undefined && (
        <p className="help break">
          It asks you to open a page. The tool wrote this address, so check it first: <code>{url}</code>
        </p>
      )}
      {isOpen && can('sessions:write') && <QuestionForm id={id} fields={fieldsOf(schema)} />}
    </section>
  );
}

function QuestionForm({
  id,
  fields,
}: {
  readonly id: string;
  readonly fields: readonly QuestionField[];
}): ReactNode {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const answer = useChange<Answer>({
    path: () => `/admin/v1/questions/${id}/answer`,
    body: (given) => given,
  });
  const set = (name: string) => (value: string) => setValues((before) => ({ ...before, [name]: value }));
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const given = fields.flatMap((field) => {
      const value = values[field.name] ?? field.fallback;
      return value === undefined || value === '' ? [] : [[field.name, answerOf(field, value)] as const];
    });
    answer.mutate({ action: 'accept', content: Object.fromEntries(given) });
  };
  return (
    <form onSubmit={submit}>
      {fields.map((field) => {
        const { name, title, options, fallback = '', hint } = field;
        const shared = { label: title, value: values[name] ?? fallback, onChange: set(name) };
        return options.length > 0 ? (
          <SelectField key={name} {...shared} options={[['', '–'], ...options]} />
        ) : (
          <TextField key={name} {...shared} {...(hint === undefined ? {} : { hint })} />
        );
      })}
      {answer.error !== null && (
        <p className="help help-problem" role="alert">
          {answer.error.message}
        </p>
      )}
      <div className="decide">
        <Button kind="primary" small type="submit" busy={answer.isPending}>
          Answer
        </Button>
        <Button small busy={answer.isPending} onClick={() => answer.mutate({ action: 'decline' })}>
          Decline
        </Button>
      </div>
    </form>
  );
}
