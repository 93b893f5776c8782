import { Alert, Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';

/** Shows a fault of a view in place of the view, so that the navigation stays usable. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Alert color="red" role="alert" title="This view has failed">
        {error.message}
        <Button mt="sm" size="xs" variant="default" onClick={() => this.setState({ error: undefined })}>
          Try again
        </Button>
      </Alert>
    );
  }
}
