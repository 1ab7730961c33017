import { Component, type ReactNode } from 'react';
import { Page } from './ui/page';
import { Failure } from './ui/states';

interface State {
  readonly error: Error | undefined;
}

/** When one page fails, the others still work. */
export class Failures extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Page title="This page failed">
        <Failure error={error} onRetry={() => location.reload()} />
      </Page>
    );
  }
}
