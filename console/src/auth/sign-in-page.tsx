import { type ReactNode, type SubmitEvent, useState } from 'react';
import { Button } from '../ui/button';
import { Logo } from '../ui/icons';

interface Props {
  readonly notice: string | undefined;
  readonly onToken: (token: string, remember: boolean) => void;
  readonly onRetry?: () => void;
}

export function SignInPage({ notice, onToken, onRetry }: Props): ReactNode {
  const [token, setToken] = useState('');
  const [remember, setRemember] = useState(true);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const text = token.trim();
    if (!/^[\x21-\x7e]+$/.test(text)) setProblem('Paste a token: it begins with agw_ and has no blanks.');
    else onToken(text, remember);
  };
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <div className="sign-in-brand">
          <Logo />
          <h1>Agent Gateway</h1>
        </div>
        {notice !== undefined && (
          <div className="notice notice-danger" role="alert">
            <p>{notice}</p>
            {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
          </div>
        )}
        <form onSubmit={submit} noValidate>
          <label htmlFor="token">Access token</label>
          <input
            id="token"
            className="input mono"
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="agw_…"
            value={token}
            aria-invalid={problem !== undefined}
            aria-describedby="token-help"
            onChange={(event) => setToken(event.target.value)}
          />
          <p id="token-help" className={problem === undefined ? 'help' : 'help help-problem'}>
            {problem ?? 'An operator makes one on the machine of the gateway:'}
          </p>
          <pre className="code">npx agent-gateway auth token create --name me</pre>
          <label className="check">
            <input
              type="checkbox"
              checked={remember}
              onChange={(event) => setRemember(event.target.checked)}
            />
            Keep me signed in until this tab is closed
          </label>
          <Button kind="primary" type="submit" wide>
            Sign in
          </Button>
        </form>
        <p className="help">
          On the gateway’s own machine, <code>npm start</code> prints a link that signs in by itself.
        </p>
      </div>
    </main>
  );
}
