import { Anchor, Button, Card, Divider, Group, Progress, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { useSession } from '../../session.ts';
import type { Overview } from './texts.ts';

type DemoDay = Overview['demoDay'];

/** Below the first steps: how to see the page with people on it before an identity provider is connected. */
export function OfferDemoDay({ demoDay: { phase, refusal } }: { demoDay: DemoDay }) {
  const play = useDemoDayChange(() => call('playDemoDay'));
  const isAdmin = useSession()?.role === 'admin';
  if (phase !== 'none' || refusal !== undefined) return null;
  return (
    <>
      <Divider my={4} />
      <Group justify="space-between" gap="xs" py={6}>
        <div style={{ flex: '1 1 260px' }}>
          <Text size="sm" fw={600}>
            Or look around first
          </Text>
          <Text size="sm" c="dimmed">
            The demo day sends 20 invented people to a connection of its own: joiners, a mover, leavers, a
            typing error. One button removes all of it.
          </Text>
          {play.error && (
            <Text size="sm" role="alert" fw={600}>
              ✗ {play.error.message}
            </Text>
          )}
        </div>
        <Button
          size="xs"
          variant="default"
          miw={150}
          disabled={!isAdmin}
          loading={play.isPending}
          onClick={() => play.mutate()}
        >
          Play the demo day
        </Button>
      </Group>
    </>
  );
}

/** While the demo day is on the service: what is invented, how far it is, and the button that removes it. */
export function DemoDayNotice({ demoDay }: { demoDay: DemoDay }) {
  const { phase, done, total } = demoDay;
  const queries = useQueryClient();
  useEffect(() => {
    // The charts and the other views are read less often than how far the demo day is.
    if (phase === 'played') void queries.invalidateQueries();
  }, [phase, queries]);
  switch (phase) {
    case 'none':
      return null;
    case 'playing':
      return (
        <Notice title="The demo day is being played">
          <Progress
            value={(100 * done) / Math.max(1, total)}
            aria-label={`${done} of ${total} requests were sent`}
          />
        </Notice>
      );
    case 'removing':
      return <Notice title="The demo day is being removed">It takes a few seconds.</Notice>;
    case 'interrupted':
      return (
        <Notice title="The demo day was interrupted" action={<RemoveButton />}>
          The process that played or removed it has ended. Remove it; then it can be played again.
        </Notice>
      );
    case 'played':
      return (
        <Notice title="You see the demo day" action={<RemoveButton />}>
          An invented identity provider has sent its people to the connection demo. Look at{' '}
          <ViewLink to="/people">People</ViewLink>, at <ViewLink to="/traffic">Traffic</ViewLink>, and at what
          is <ViewLink to="/held">held</ViewLink>; then <ViewLink to="/connect">connect your own</ViewLink>.
        </Notice>
      );
  }
}

function Notice({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) {
  return (
    <Card
      withBorder
      padding="sm"
      role="status"
      style={{ borderInlineStart: '3px solid var(--mantine-primary-color-filled)' }}
    >
      <Group justify="space-between" gap="xs">
        <div style={{ flex: '1 1 300px' }}>
          <Text size="sm" fw={600}>
            {title}
          </Text>
          <Text size="sm" component="div">
            {children}
          </Text>
        </div>
        {action}
      </Group>
    </Card>
  );
}

function RemoveButton() {
  const [isAsking, setIsAsking] = useState(false);
  const remove = useDemoDayChange(() => call('undoDemoDay'));
  if (useSession()?.role !== 'admin') return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsAsking(true)}>
        Remove the demo day
      </Button>
      {isAsking && (
        <Confirm
          title="Remove the demo day?"
          action="Remove the demo day"
          mutation={remove}
          onClose={() => setIsAsking(false)}
        >
          <Text size="sm">
            The invented people go, with their travelers, requests and held changes, and the connection demo
            goes with its token. Nothing else is changed.
          </Text>
        </Confirm>
      )}
    </>
  );
}

/** Afterwards every view is read again: the demo day is in all of them. */
function useDemoDayChange(change: () => Promise<DemoDay>) {
  const queries = useQueryClient();
  return useMutation<DemoDay, Error, void>({
    mutationFn: change,
    onSuccess: () => queries.invalidateQueries(),
  });
}

function ViewLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} href={`~/admin${to}`} inherit underline="always">
      {children}
    </Anchor>
  );
}
