import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Result } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import { queryClient, useSession } from '../../session.ts';
import { ViewLink } from './resource.tsx';
import { resourcesText } from './texts.ts';

type State = Result<'describeSampleData'>;

const queryKey = ['travel', 'sample-data'];

/** The sample company: a button that creates it, or one that removes it. */
export function SampleData() {
  const state = useQuery({ queryKey, queryFn: () => call('describeSampleData') });
  return <Loaded query={state}>{(data) => <SampleCompany {...data} />}</Loaded>;
}

function SampleCompany({ company, domain, isPresent, users, trips }: State) {
  const canChange = useSession()?.role === 'admin';
  // Everything of the travel service is read again.
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['travel'] });
  const creation = useMutation({
    mutationFn: () => call('createSampleData'),
    onSettled: refresh,
  });
  const [removal, setRemoval] = useState<string>();
  return (
    <Stack gap="sm" maw={720}>
      <Group gap="xs">
        <Text fw={600}>{company}</Text>
        <StateBadge mark={isPresent ? present : absent} />
      </Group>
      <Text size="sm">
        {company} is an invented company with {users} people and {trips} trips of thirteen months: travel
        policies, cost centers, bookings, cancellations, invoices, refunds. Its email addresses end with @
        {domain}, and nothing of anybody else is changed.
      </Text>
      {creation.error && (
        <Alert color="red" role="alert">
          {creation.error.message}
        </Alert>
      )}
      {removal && (
        <Alert color="gray" role="status">
          {removal}
        </Alert>
      )}
      {isPresent ? (
        <>
          <Text size="sm">
            Look at its{' '}
            <ViewLink href="/trips" isInText>
              trips
            </ViewLink>{' '}
            and{' '}
            <ViewLink href="/invoices" isInText>
              invoices
            </ViewLink>
            .
          </Text>
          {canChange && <RemoveButton {...{ company, domain }} onRemoved={setRemoval} />}
        </>
      ) : (
        canChange && (
          <Button
            size="xs"
            w="fit-content"
            loading={creation.isPending}
            onClick={() => {
              setRemoval(undefined);
              creation.mutate();
            }}
          >
            Create {company}
          </Button>
        )
      )}
      {creation.isPending && (
        <Text size="sm" c="dimmed" role="status">
          {company} is being created. That takes some seconds.
        </Text>
      )}
    </Stack>
  );
}

const present = { symbol: '✓', label: 'in the travel service', color: 'green' };
const absent = { symbol: '–', label: 'not there', color: 'gray' };

function RemoveButton({
  company,
  domain,
  onRemoved,
}: Pick<State, 'company' | 'domain'> & { onRemoved: (outcome: string) => void }) {
  const [isAsked, setAsked] = useState(false);
  const mutation = useMutation({
    mutationFn: () => call('removeSampleData'),
    onSuccess: async ({ removed, kept }) => {
      const rest = Object.keys(kept).length > 0 && ` Others refer to ${resourcesText(kept)}, which stay.`;
      onRemoved(`✓ Removed ${resourcesText(removed)}.${rest || ''}`);
      setAsked(false);
      await queryClient.invalidateQueries({ queryKey: ['travel'] });
    },
  });
  return (
    <>
      <Button
        size="xs"
        w="fit-content"
        variant="default"
        aria-haspopup="dialog"
        onClick={() => setAsked(true)}
      >
        Remove {company}…
      </Button>
      {isAsked && (
        <Confirm
          title={`Remove ${company}?`}
          action={`Remove ${company}`}
          mutation={mutation}
          isDestructive
          onClose={() => setAsked(false)}
        >
          <Text>
            All travelers with an address at {domain} go, with their trips, invoices and API keys, and the
            company’s policies, cost centers and custom fields. This cannot be undone, but {company} can be
            created again.
          </Text>
        </Confirm>
      )}
    </>
  );
}
